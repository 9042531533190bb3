"""Decide from bytecode whether calls of a function can be skipped, and on which values that depends.

An eager transformation runs the user's function at each call. Its earlier trace can be reused if the
function has no side effects, and if its free variables (globals, closure cells, defaults) are unchanged.
The bytecode of the function and of all its callees decides both. Unknown operations, and all bytecode of
an unknown Python version, count as impure: the function is then called.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core.trace import Tracer, is_concrete
from sagax._src.core.value import Array
from sagax._src.diagnostics.spans import is_sagax
from sagax._src.function_analysis import bytecode, identity

__all__ = ["FreeVariables", "Impure", "check_class", "pure_free_variables"]

_MOST_FUNCTIONS = 64
_PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range))
_CONTAINERS = frozenset((list, dict, set))

# Methods that mutate a container. They are harmless on containers that the function created.
_CHANGES = frozenset(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE"))
_CHANGING_METHODS = frozenset(
    """append appendleft extend extendleft insert pop popleft popitem remove clear update setdefault add discard
    sort reverse fill put itemset partition resize setflags setfield byteswap rotate move_to_end
    difference_update intersection_update symmetric_difference_update send throw close write
    __setitem__ __delitem__ __setattr__ __delattr__ __iadd__""".split()
)
_BUILTINS = frozenset(
    """abs all any bool callable complex dict divmod enumerate filter float frozenset int isinstance issubclass
    iter len list map max min next pow range reversed round set slice sorted str sum tuple type zip
    ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError
    NotImplementedError OverflowError RuntimeError TypeError ValueError ZeroDivisionError
    NotImplemented Ellipsis""".split()
)
_LIBRARIES = frozenset(("math", "cmath", "operator", "_operator"))
_NUMPY = frozenset(
    """arange arccos arcsin arctan arctan2 array asarray ascontiguousarray broadcast_shapes ceil cos cosh
    diag dtype e euler_gamma exp eye finfo floor full identity iinfo inf linspace log logspace meshgrid nan
    newaxis ones ones_like pi prod repeat shape sin size sqrt tile tri tril triu zeros zeros_like bool bool_
    complex64 complex128 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 floating
    integer inexact ndim ndarray generic number issubdtype result_type promote_types""".split()
)
_TRUSTED = tuple(
    f"sagax.{name}."
    for name in """numpy lax nn random scipy image ops tree tree_util dtypes core flatten_util ad_checkpoint
    custom_batching custom_derivatives errors typing _src.primitives _src.transforms
    _src.higher_order _src.collectives _src.callbacks _src.argument_checks
    _src.function_analysis.purity _src.function_analysis.identity
    _src.trees _src.core _src.api.derivatives _src.api.jacobians _src.api.vmap _src.api.jit
    _src.api.tracing_utils _src.api.shape_dtype_struct _src.api.eager_transforms
    _src.api.saved_residuals""".split()
)
_NAMESPACES = frozenset(
    [f"sagax.{n}" for n in "numpy numpy.linalg numpy.fft lax nn random tree tree_util".split()]
    + ["math", "cmath", "operator"]
)
_UNTRUSTED = frozenset(
    "save savez load loads fromfile frombuffer set_printoptions printoptions clear_all_caches clear_caches".split()
)
_missing: Any = object()


class Impure(Exception):
    """The function may have side effects, or free variables that the analysis cannot find."""


class FreeVariables:
    """The free variables of a function, with their values at the time of the analysis.

    `arrays` are the function's own free variables that hold arrays: (name, holder) with the name of a closure
    variable and None, or of a global and its dict. They may change; all others must be unchanged.
    """

    __slots__ = ("arrays", "bound", "cells", "contents", "functions", "own_cells", "own_defaults")

    def __init__(self) -> None:
        self.arrays: dict[str, dict | None] = {}
        self.own_defaults: tuple = ()
        self.own_cells: dict[str, Any] = {}
        self.bound: list[tuple[dict, str, Any]] = []
        self.cells: list[tuple[types.CellType, Any]] = []
        self.functions: list[tuple[types.FunctionType, tuple]] = []
        self.contents: list[tuple[Any, Any]] = []

    def are_unchanged(self, fun: Any) -> bool:
        """Return whether `fun`, with the analyzed code, would read unchanged values now."""
        for space, name, value in self.bound:
            if space.get(name, _missing) is not value and not _same(
                value, space.get(name, _missing)
            ):
                return False
        if self.own_defaults and not _same_parts(self.own_defaults, _defaults(fun)):
            return False
        try:
            if self.own_cells:
                for name, cell in zip(fun.__code__.co_freevars, fun.__closure__ or ()):
                    if name in self.own_cells and not _same(
                        self.own_cells[name], cell.cell_contents
                    ):
                        return False
            for cell, value in self.cells:
                if cell.cell_contents is not value and not _same(value, cell.cell_contents):
                    return False
        except ValueError:  # an empty cell
            return False
        for function, parts in self.functions:
            if _parts(function) != parts:
                return False
        return all(_snapshot(value) == before for value, before in self.contents)

    def values(self, fun: Any) -> list:
        """Return the arrays that `fun` reads now. Raises LookupError or ValueError if one is missing."""
        if not self.arrays:
            return []
        cells = bytecode.cells_of(fun)
        return [
            cells[name].cell_contents if space is None else space[name]
            for name, space in self.arrays.items()
        ]

    def with_values(self, fun: Any, values: Sequence[Any]) -> Any:
        """Return `fun` with other arrays in place of its captured ones."""
        if not self.arrays:
            return fun
        space: dict[str, Any] = fun.__globals__
        cells: list[Any] = list(fun.__closure__ or ())
        for (name, where), value in zip(self.arrays.items(), values, strict=True):
            if where is None:
                cells[fun.__code__.co_freevars.index(name)] = types.CellType(value)
            else:
                space = {**space, name: value}
        rebuilt = types.FunctionType(
            fun.__code__, space, fun.__name__, fun.__defaults__, tuple(cells) or None
        )
        rebuilt.__kwdefaults__ = fun.__kwdefaults__
        rebuilt.__qualname__ = fun.__qualname__
        return rebuilt


def _defaults(fun: types.FunctionType) -> tuple:
    named = fun.__kwdefaults__
    given = fun.__defaults__ or ()
    return (*given, *sorted(named), *[named[k] for k in sorted(named)]) if named else given


def _same_parts(old: tuple, new: tuple) -> bool:
    return old is new or (len(old) == len(new) and all(map(_same, old, new)))


def _parts(fun: types.FunctionType) -> tuple:
    return id(fun.__code__), id(fun.__defaults__), id(fun.__kwdefaults__), id(fun.__closure__)


def _same(old: Any, new: Any) -> bool:
    if old is new:
        return True
    kind = type(old)
    if kind is not type(new):
        return False
    if kind in _PLAIN:
        return old == new and repr(old) == repr(new)
    if kind is types.FunctionType:
        key = identity.function_key(old)
        return key is not None and key == identity.function_key(new)
    return False


def _snapshot(value: Any) -> Any:
    """Return a snapshot of a container or a NumPy array, to detect mutation."""
    kind = type(value)
    if kind in (list, tuple):
        return kind, tuple([_snapshot(v) for v in value])
    if kind is dict:
        return kind, tuple([(k, _snapshot(v)) for k, v in value.items()])
    if kind is np.ndarray:
        return value.dtype, value.shape, value.tobytes()
    if kind in _PLAIN:
        return kind, repr(value)
    return identity.Same(value)


def pure_free_variables(fun: Any, also: Sequence[Any], has_containers: bool) -> FreeVariables:
    """Return the free variables of `fun`, and of the functions among its arguments `also`.

    `has_containers`: whether an argument is a container of the caller, whose mutation would be visible.
    Raises Impure if a call may have side effects.
    """
    analysis = _Analysis()
    if not analysis.harmless:
        raise Impure("the bytecode of this version of Python is not known")
    if type(fun) is types.FunctionType:
        analysis.function(fun, own=True)
    else:
        analysis.value(fun)
    for value in also:
        analysis.value(value)
    if analysis.changes and (analysis.variables.contents or has_containers):
        raise Impure("changes a container that may not be its own")
    if analysis.namespaces and analysis.refused:
        raise Impure(", ".join(sorted(analysis.refused)))
    return analysis.variables


def _is_attribute(step: tuple[str, Any]) -> bool:
    return step[0] == "attribute"


class _Analysis:
    """Analyze a function and all its callees."""

    def __init__(self) -> None:
        self.variables = FreeVariables()
        self.seen: set[int] = set()
        self.keep_alive: list[Any] = []  # keeps ids valid
        self.changes = False
        self.namespaces = False  # a sagax module escapes, so that any of its attributes may be read
        self.left = _MOST_FUNCTIONS
        self.refused: set[str] = set()
        self.harmless = bytecode.harmless_operations()

    # -- functions ------------------------------------------------------------------------------

    def function(self, fun: types.FunctionType, own: bool = False) -> None:
        if id(fun) in self.seen:
            return
        self.seen.add(id(fun))
        self.keep_alive.append(fun)
        if is_sagax(fun.__code__.co_filename):
            self._sagax_function(fun)
            return
        self.left -= 1
        if not self.left:
            raise Impure("too many functions")
        if fun.__dict__.keys() - {"__wrapped__"}:
            raise Impure(f"{fun.__name__} has attributes, which may change")
        if not own:
            self.variables.functions.append((fun, _parts(fun)))
        else:
            self.variables.own_defaults = _defaults(fun)
        for default in _defaults(fun):
            self.value(default)
        cells = bytecode.cells_of(fun)
        for name, cell in cells.items():
            try:
                value = cell.cell_contents
            except ValueError:
                raise Impure(f"{name} is not bound yet") from None
            if own and is_concrete(value):
                self.variables.arrays[name] = None
                continue
            if own:
                self.variables.own_cells[name] = value
            else:
                self.variables.cells.append((cell, value))
            if not isinstance(value, types.ModuleType):
                self.value(value)
        self._code(fun.__code__, fun.__globals__, cells, frozenset(), own)

    def _sagax_function(self, fun: types.FunctionType) -> None:
        """Analyze a function of sagax, which may capture the user's values."""
        _trust(fun.__globals__["__name__"], fun.__name__)
        for cell in fun.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                raise Impure("not bound yet") from None
            if _may_call(value):
                self.value(value)

    def _code(
        self, code: types.CodeType, space: dict, cells: dict, fresh: frozenset, own: bool
    ) -> None:
        fresh = fresh | frozenset(code.co_cellvars)
        if code.co_flags & (0x80 | 0x100 | 0x200):  # coroutines
            raise Impure("asynchronous")
        found = bytecode.scan(code)
        unknown = found.operations - self.harmless
        if unknown:
            raise Impure(min(unknown))
        if found.rebound.intersection(code.co_freevars) - fresh:
            raise Impure("nonlocal")
        if found.inplace or found.operations & _CHANGES or found.attributes & _CHANGING_METHODS:
            self.changes = True
        self.refused |= found.attributes & _UNTRUSTED
        for load in found.loads:
            attributes = [key for kind, key in itertools.takewhile(_is_attribute, load.steps)]
            if load.root == "global":
                self._read_global(space, load.name, attributes, own)
            elif load.root == "cell" and load.name not in fresh and load.name in cells:
                value = cells[load.name].cell_contents
                if isinstance(value, types.ModuleType):
                    self._attribute(value, attributes)
        for inner in found.inner:
            self._code(inner, space, cells, fresh, own)

    def _read_global(self, space: dict, name: str, attributes: Sequence[str], own: bool) -> None:
        value = space.get(name, _missing)
        if own and is_concrete(value):
            self.variables.arrays[name] = space
            return
        self.variables.bound.append((space, name, value))
        if value is _missing:
            if name not in _BUILTINS or not hasattr(builtins, name):
                raise Impure(f"{name} is not known to be harmless")
        elif isinstance(value, types.ModuleType):
            self._attribute(value, attributes)
        else:
            self.value(value)

    def _attribute(self, module: types.ModuleType, attributes: Sequence[str]) -> None:
        """Record an attribute of a module or submodule, or that the module itself escapes."""
        value: Any = module
        for name in attributes:
            if not isinstance(value, types.ModuleType):
                break
            library = value.__name__
            value = getattr(value, name, _missing)
            if value is _missing:
                raise Impure(f"{library} has no {name}")
            if library == "numpy":
                if name not in _NUMPY:
                    raise Impure(f"numpy.{name}")
                return
            if library in _LIBRARIES:
                return
            if library.partition(".")[0] != "sagax":
                self.variables.bound.append((vars(module), name, value))
                if vars(module).get(name, _missing) is not value:
                    raise Impure(f"{library}.{name} is made when it is read")
                module = value if isinstance(value, types.ModuleType) else module
            elif name in _UNTRUSTED:
                raise Impure(name)
        self.value(value)

    # -- values ---------------------------------------------------------------------------------

    def value(self, value: Any) -> None:
        kind = type(value)
        if kind in _PLAIN or isinstance(value, (np.generic, np.dtype, slice)):
            return
        if isinstance(value, Tracer):
            raise Impure("a value of another transformation")
        if isinstance(value, Array):
            return  # immutable, and compared by identity at its binding
        if kind is types.FunctionType:
            self.function(value)
        elif kind is types.ModuleType:
            if value.__name__ not in _NAMESPACES:
                raise Impure(f"the module {value.__name__} is passed on")
            self.namespaces = True
        elif kind is functools.partial:
            for part in (value.func, *value.args, *value.keywords.values()):
                self.value(part)
        elif isinstance(value, tuple):
            if kind is not tuple:
                check_class(kind)
            for part in value:
                self.value(part)
        elif kind in (list, dict):
            if id(value) in self.seen:
                return
            self.seen.add(id(value))
            self.variables.contents.append((value, _snapshot(value)))
            for part in value.values() if kind is dict else value:
                self.value(part)
        elif kind is np.ndarray:
            if value.nbytes > tuning.EAGER_TRANSFORM_MAX_ARRAY_BYTES or value.dtype.hasobject:
                raise Impure("a large NumPy array, which may change")
            self.variables.contents.append((value, _snapshot(value)))
        elif isinstance(value, type):
            check_class(value)
        elif isinstance(value, (types.BuiltinFunctionType, np.ufunc)):
            self._builtin(value)
        elif kind.__module__.partition(".")[0] == "sagax":
            self._object(value)
        else:
            raise Impure(f"an object of type {kind.__name__}, which may change")

    def _builtin(self, fun: Any) -> None:
        if isinstance(fun, np.ufunc):
            return
        owner = fun.__self__
        if isinstance(owner, types.ModuleType):
            module = fun.__module__ or ""
            if module == "builtins" and fun.__name__ in _BUILTINS:
                return
            if module in _LIBRARIES or (module == "_functools" and fun.__name__ == "reduce"):
                return
            if module.startswith("numpy") and fun.__name__ in _NUMPY:
                return
        raise Impure(f"{fun.__name__} is not known to be harmless")

    def _object(self, value: Any) -> None:
        """Analyze the user's functions in an object of sagax, such as a jitted function."""
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        self.keep_alive.append(value)
        _trust(type(value).__module__, type(value).__name__)
        own = getattr(value, "__dict__", {})
        self.variables.bound += [(own, name, part) for name, part in own.items() if _may_call(part)]
        for part in _fields(value):
            if _may_call(part):
                self.value(part)


def check_class(cls: type) -> None:
    """Raise for classes that may have user-defined methods."""
    module = cls.__module__
    if module == "builtins" and cls.__name__ in _BUILTINS:
        return
    if module.partition(".")[0] in ("sagax", "ml_dtypes") or issubclass(cls, np.generic):
        return
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        own = {n for n, v in vars(cls).items() if isinstance(v, (types.FunctionType, property))}
        if own <= {"_replace", "__repr__", "_asdict", "__getnewargs__", "__replace__"}:
            return
    raise Impure(f"the class {cls.__name__}")


def _is_trusted(module: str) -> bool:
    return f"{module}.".startswith(_TRUSTED)


def _trust(module: str, name: str) -> None:
    if not _is_trusted(module) or name in _UNTRUSTED:
        raise Impure(f"{module}.{name}")


def _may_call(value: Any) -> bool:
    """Return whether an attribute of a sagax object is a user function that it may call."""
    if isinstance(value, (types.FunctionType, functools.partial)):
        return True
    if isinstance(value, types.MethodType):
        return type(value.__self__).__module__.partition(".")[0] != "sagax"
    return callable(value) and _is_trusted(type(value).__module__)


def _fields(value: Any) -> Iterator[Any]:
    yield from getattr(value, "__dict__", {}).values()
    for cls in type(value).__mro__:
        slots: Any = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            found = getattr(value, name, None)
            if found is not None:
                yield found
