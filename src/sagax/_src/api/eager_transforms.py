"""Compile eager transformations of provably pure functions.

`grad(f)(x)` runs f at each call, operation by operation. From the third call of a signature on, where
calling f does nothing but compute its result (`function_analysis/purity.py`), the transformed program is traced,
compiled and kept, and a call runs it: after a look at whether what f reads from outside is still the
same. Where f is not of that kind, or cannot be traced because it looks at values (an `if` on an
array), it goes on being called. The compiled program rounds as its operations do alone, so that results are the same bits.
"""

from __future__ import annotations

import functools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import config, trees, tuning
from sagax._src.api import arguments
from sagax._src.api.jit import JitFunction, jit
from sagax._src.argument_checks import checks
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import Jaxpr, subjaxprs
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import numpy_aval
from sagax._src.diagnostics import events
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.diagnostics.spans import is_sagax
from sagax._src.function_analysis.identity import Same
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.call_paths import FAILURES

if TYPE_CHECKING or lazy_imports():
    from sagax._src.function_analysis import purity


__all__ = ["applied", "clear", "derivative", "jitted_inside", "transformed"]

_MOST_UNITS = 256
_MOST_CHANGES = 5
_MOST_SIGNATURES = 256
_SCALARS = frozenset((bool, int, float, complex))
_NAMES = frozenset((str, bytes, type(None)))
_NODES = (tuple, list, dict, type(None), OrderedDict)

_flatten = trees.flatten
_thread = config.thread
_lock = threading.Lock()
_units: OrderedDict[tuple, _Unit] = OrderedDict()
_allowing: dict[Any, bool] = {}

Make = Callable[[Any], Callable[..., Any]]


class _Never:
    """Stands where a signature has to be evaluated operation by operation."""


class Transformation:
    """What a transformed function is made of; the function carries it as `_transformation`.

    `make(fun)` gives the function that is evaluated operation by operation. `moving(n)` tells which of n
    positional arguments are taken apart and made anew, `scalars_move` whether Python numbers among their
    leaves are operands (else they are constants of the program).
    """

    __slots__ = ("fun", "key", "make", "moving", "scalars_move")

    def __init__(
        self,
        key: tuple,
        make: Make,
        fun: Any,
        moving: Callable[[int], Sequence[int]],
        scalars_move: bool,
    ) -> None:
        self.key, self.make, self.fun = key, make, fun
        self.moving, self.scalars_move = moving, scalars_move


def transformed(
    fun: Any,
    key: tuple,
    make: Make,
    *,
    moving: Callable[[int], Sequence[int]],
    scalars_move: bool = True,
) -> Callable[..., Any]:
    """`make(fun)`, compiled as one piece when it is called often enough outside of any other tracing.

    Args:
      fun: the user's function.
      key: names the transformation and its options, whatever the function is.
      make: gives the transformed function, of `fun` or of a function that means the same.
      moving, scalars_move: see `Transformation`.
    """
    plain = make(fun)
    what = Transformation(key, make, fun, moving, scalars_move)
    unit: _Unit | None = None

    @functools.wraps(fun, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal unit
        if state.trace is not evaluation:
            return plain(*args, **kwargs)
        if unit is None:
            unit = _unit_of(what)
        return unit.run(what, plain, args, kwargs)

    call._transformation = what  # type: ignore[attr-defined]
    return call


def derivative(name: str, fun: Any, make: Make, options: tuple) -> Callable[..., Any]:
    """`make(fun)`, which differentiates positional arguments, in the same way.

    `options` are those of the transformation called `name`: argnums, then flags.
    """
    arguments.check_callable(fun, name)
    nums = checks.positions(name, "argnums", options[0])
    key = (name, nums, checks.is_index(options[0]), *options[1:])
    return transformed(fun, key, make, moving=arguments.places_of(nums))


def applied(fun: Any, key: tuple, make: Make, args: tuple) -> Any:
    """`make(fun)(*args)`, all of whose arguments are taken apart, in the same way."""
    if state.trace is not evaluation:
        return make(fun)(*args)
    what = Transformation(key, make, fun, range, True)
    return _unit_of(what).run(what, make(fun), args, {})


def jitted_inside(fun: Any, key: tuple, args: tuple) -> Any:
    """`fun` to be transformed and called once with `args`; where that is sound, jitted, in the same way."""
    if state.trace is not evaluation:
        return fun
    what = Transformation(key, _itself, fun, range, True)
    found = _unit_of(what).program(what, args, {})
    if found is None:
        return fun
    _, program, operands = found
    call, hidden = program.call, operands[: len(operands) - len(trees.leaves(args))]

    @functools.wraps(fun, updated=())
    def jitted(*given: Any) -> Any:
        return call(*hidden, *trees.leaves(given))

    return jitted


def _itself(fun: Any) -> Any:
    return fun


def clear() -> None:
    """Forget everything traced and compiled for transformed functions."""
    with _lock:
        for unit in _units.values():
            unit.forget()
        _units.clear()


def _allowed(settings: Any) -> bool:
    """Whether, with these settings, a program may be run in place of the operations one by one."""
    found = _allowing.get(settings)
    if found is None:
        found = settings.compile_unjitted and not (
            settings.disable_jit
            or settings.debug_nans
            or settings.debug_infs
            or settings.debug_key_reuse
            or settings.check_tracer_leaks
            or settings.check_bounds
            or settings.no_tracing
            or settings.no_execution
            or settings.numpy_rank_promotion != "allow"
        )
        _allowing[settings] = found
    return found


def _base_of(what: Transformation) -> tuple[Any, list[Transformation]]:
    """The user's function inside, and the transformations of it from the outermost on."""
    chain = [what]
    while True:
        fun = chain[-1].fun
        inner = getattr(fun, "__dict__", {}).get("_transformation")
        if inner is None:
            return fun, chain
        chain.append(inner)


def _unit_of(what: Transformation) -> _Unit:
    base, chain = _base_of(what)
    if type(base) is types.FunctionType and not is_sagax(base.__code__.co_filename):
        of = (Same(base.__code__), Same(base.__globals__))
    else:
        of = (Same(base),)
    key = (*[t.key for t in chain], *of)
    try:
        hash(key)
    except TypeError:
        return _Unit()
    with _lock:
        found = _units.pop(key, None) or _Unit()
        _units[key] = found
        if len(_units) > _MOST_UNITS:
            _units.popitem(last=False)
        return found


class _Unit:
    """What is known of one transformation of the functions of one piece of code."""

    __slots__ = ("changes", "known", "lock", "off")

    def __init__(self) -> None:
        self.known: dict[tuple, Any] = {}
        self.changes = 0
        self.off = False
        self.lock = threading.Lock()

    def forget(self) -> None:
        self.known, self.changes, self.off = {}, 0, False

    def run(self, what: Transformation, plain: Callable, args: tuple, kwargs: dict) -> Any:
        """The result of a call."""
        found = self.program(what, args, kwargs)
        if found is not None:
            signature, program, operands = found
            try:
                return program.call(*operands)
            except (SagaxError, *FAILURES) as error:
                # What cannot be compiled, and arrays that were deleted: the plain way has the better words.
                _tell(what, error)
                result = plain(*args, **kwargs)
            self.known[signature] = _Never
            return result
        return plain(*args, **kwargs)

    def program(
        self, what: Transformation, args: tuple, kwargs: dict
    ) -> tuple[tuple, _Program, list] | None:
        """The signature of a call, its program, and the operands of that; None: it is to go the plain way."""
        settings = _thread.settings
        if self.off or not _allowed(settings):
            return None
        try:
            leaves, tree = _flatten((args, kwargs))
        except (ValueError, TypeError, SystemError):
            return None  # the plain way says what is wrong
        key: list = [tree, settings]
        statics: dict[int, Any] | None = None
        for x in leaves:
            if type(x) is not ConcreteArray:
                sorted_out = _sorted_out(what, args, leaves)
                if sorted_out is None:
                    return None
                leaves, statics, more = sorted_out
                key.extend(more)
                break
            key.append(x.aval)
        signature = tuple(key)
        found = self.known.get(signature)
        if type(found) is not _Program:
            if found is _Never:
                return None
            count = 1 if found is None else found + 1
            if count < tuning.EAGER_TRANSFORM_COMPILE_FROM_CALL:
                self._count(signature, count)
                return None
            found = self._prepare(what, signature, count, (args, kwargs), leaves, statics)
            if found is None:
                return None
        base, reads = found.base(what), found.reads
        if not reads.hold(base):
            self._changed()
            return None
        if reads.arrays:
            values = _arrays(reads, base)
            if values is None:
                return None
            leaves = [*values, *leaves]
        return signature, found, leaves

    def _count(self, signature: tuple, count: int) -> None:
        self.known[signature] = count
        if len(self.known) > _MOST_SIGNATURES:  # such as a number that is another one at each call
            entries = list(self.known.items())  # other threads may add to it meanwhile
            kept = {k: v for k, v in entries if type(v) is _Program}
            self.known = kept if len(kept) < _MOST_SIGNATURES // 2 else {}

    def _changed(self) -> None:
        """What the function reads has changed: it is looked at again, for some times."""
        with self.lock:
            self.changes += 1
            self.off = self.changes > _MOST_CHANGES
            self.known = {}

    def _prepare(
        self,
        what: Transformation,
        signature: tuple,
        count: int,
        given: tuple,
        leaves: list,
        statics: dict[int, Any] | None,
    ) -> _Program | None:
        """The program of a signature that was called `count` times, if it is time for it."""
        waiting: Any = self.known.get((signature, "waiting"))
        if waiting is None:
            try:
                waiting = _traced(what, given, signature[0], leaves, statics)
            except Exception as error:
                # It looks at values, or is not known to be harmless; or it raises what it likes, as
                # it is the user's code that is traced here.
                _tell(what, error)
                self.known[signature] = _Never
                return None
            if waiting.patience > count:
                self.known[signature, "waiting"] = waiting
        if waiting.patience > count:
            self.known[signature] = count
            return None
        self.known.pop((signature, "waiting"), None)
        self.known[signature] = waiting
        return waiting


class _Program:
    """A transformed function traced for one signature; compiled at its first call."""

    __slots__ = ("call", "patience", "reads")

    def __init__(self, call: JitFunction, reads: purity.Reads, patience: int) -> None:
        self.call, self.reads, self.patience = call, reads, patience

    @staticmethod
    def base(what: Transformation) -> Any:
        fun = what.fun
        inner = getattr(fun, "__dict__", None)
        while inner and "_transformation" in inner:
            fun = inner["_transformation"].fun
            inner = getattr(fun, "__dict__", None)
        return fun


def _tell(what: Transformation, error: Exception) -> None:
    """Tell listeners that a signature is evaluated operation by operation from now on, and why."""
    if events.events:
        events.events.notify(
            "/sagax/eager_transforms/not_compiled",
            fun_name=function_name(_base_of(what)[0]),
            error=f"{type(error).__name__}: {error}",
        )


def _arrays(reads: purity.Reads, base: Any) -> list | None:
    """The arrays that the function reads from outside, as long as they are arrays."""
    try:
        values = reads.values(base)
    except (LookupError, ValueError):
        return None
    return values if all(type(v) is ConcreteArray for v in values) else None


def _sorted_out(
    what: Transformation, args: tuple, leaves: list
) -> tuple[list, dict[int, Any], list] | None:
    """Leaves that are not all arrays: operands, constants by position, and the rest of the key.

    None where one can be neither. In the plain way the function gets Python numbers as they are, except
    those that are differentiated, and may compute with them in Python; so they are constants here.
    """
    marks = _moving_marks(what, args, len(leaves)) if what.scalars_move else None
    operands: list = []
    statics: dict[int, Any] = {}
    key: list = []
    for i, x in enumerate(leaves):
        kind = type(x)
        if kind is ConcreteArray:
            operands.append(x)
            key.append(x.aval)
        elif kind in _SCALARS:
            if marks is not None and marks[i]:
                try:
                    operands.append(as_array(x))
                except OverflowError:
                    return None
                key.append(kind)
            else:
                statics[i] = x
                key.append((kind, repr(x)))
        elif kind is np.ndarray:
            settings = _thread.settings
            if x.dtype.kind not in "biufc" or numpy_aval(x, settings.x64).dtype != x.dtype:
                return None
            operands.append(as_array(x))
            key.append(operands[-1].aval)
        elif kind in _NAMES or isinstance(x, types.FunctionType):
            statics[i] = x
            key.append((kind, x) if kind in _NAMES else Same(x))
        else:
            return None
    return operands, statics, key


def _moving_marks(what: Transformation, args: tuple, n: int) -> list[bool]:
    """For each leaf of the arguments whether it is of one that is taken apart."""
    moving = set(what.moving(len(args)))
    marks: list[bool] = []
    for i, arg in enumerate(args):
        marks.extend([i in moving] * len(trees.leaves(arg)))
    return marks + [False] * (n - len(marks))


def _traced(
    what: Transformation, given: tuple, tree: Any, leaves: list, statics: dict[int, Any] | None
) -> _Program:
    """The transformed function as a program of flat operands. Raises where there is none."""
    args, kwargs = given
    base, chain = _base_of(what)
    _check_nodes(tree)
    moving = set(what.moving(len(args)))
    kept = [a for i, a in enumerate(args) if i not in moving] + list(kwargs.values())
    containers = any(_has_container(a) for a in kept)
    called = [x for x in (statics or {}).values() if callable(x)]
    reads = purity.reads_of(base, called, containers)
    values = _arrays(reads, base)
    if values is None:
        raise purity.Impure("what it reads are no arrays")
    first, fixed = len(values), sorted((statics or {}).items())
    makes = [t.make for t in reversed(chain)]

    source = [base]  # for tracing; what it closes over is not to be kept alive afterwards

    def program(*operands: Any) -> Any:
        fun = reads.with_values(source[0], operands[:first])
        for make in makes:
            fun = make(fun)
        full = list(operands[first:])
        for i, x in fixed:
            full.insert(i, x)
        some, named = tree.unflatten(full)
        return fun(*some, **named)

    program.__name__ = program.__qualname__ = function_name(base)
    program.__module__ = getattr(base, "__module__", program.__module__)
    # for whoever counts compilations: the code, without what the function closes over
    program.written_as = getattr(base, "__code__", None)  # type: ignore[attr-defined]
    # exact: nobody can tell the calls that are compiled from those that are not
    call = jit(program, stale="ignore", exact=True)
    closed = call.trace(*values, *leaves).jaxpr
    source.clear()
    if closed.effects or any(a.dtype == dtypes.float0 for a in closed.out_avals):
        raise purity.Impure("it has effects")
    calls = tuning.EAGER_TRANSFORM_CALLS_PER_EQUATION * _size(closed.jaxpr)
    return _Program(call, reads, int(calls))


def _size(jaxpr: Jaxpr) -> int:
    """How many operations a program has, those of programs inside too."""
    return sum([1 + sum(map(_size, subjaxprs(e.params))) for e in jaxpr.eqns])


def _check_nodes(tree: Any) -> None:
    """Raise for containers whose class may have methods of the user's."""
    node = tree.node_data()
    if node is not None:
        kind = node[0]
        if kind not in _NODES and not (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            raise purity.Impure(f"a container of type {kind.__name__}")
        if hasattr(kind, "_fields"):
            purity.check_class(kind)
    for child in tree.children():
        _check_nodes(child)


def _has_container(x: Any) -> bool:
    if isinstance(x, tuple):
        return any(map(_has_container, x))
    return isinstance(x, (list, dict, np.ndarray))
