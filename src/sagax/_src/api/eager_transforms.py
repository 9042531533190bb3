"""Compile eager transformations of provably pure functions.

`grad(f)(x)` outside of jit calls f each time, operation by operation. From the third call of a
signature on, a pure f (`function_analysis/purity.py`) is compiled: the transformed function is
traced, and a call runs its executable, after a check that the captured values are unchanged. If f
is not provably pure, or cannot be traced because its control flow depends on values, it stays
eager. The executable rounds after each operation, so results are bit-identical.
"""

from __future__ import annotations

import functools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

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


@lazy_imports
def _() -> None:
    global purity
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
    """Mark a signature that stays eager."""


class Transformation:
    """Describe a transformed function; the function has it as `_transformation`.

    `transform(fun)` returns the eager function. `dynamic(n)` returns which of n positional
    arguments are flattened into operands. `dynamic_scalars` tells whether Python numbers among
    their leaves are operands; otherwise they are constants of the jaxpr.
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
    """Return `transform(fun)`, which compiles frequent signatures outside of any tracing.

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
    """Return `transform(fun)`, which differentiates positional arguments, compiled when frequent.

    `options` are those of the transformation called `name`: argnums, then flags.
    """
    arguments.check_callable(fun, name)
    nums = checks.positions(name, "argnums", options[0])
    key = (name, nums, checks.is_index(options[0]), *options[1:])
    return transformed(fun, key, make, moving=arguments.places_of(nums))


def applied(fun: Any, key: tuple, make: Make, args: tuple) -> Any:
    """Compute `transform(fun)(*args)`, with all arguments dynamic, compiled when frequent."""
    if state.trace is not evaluation:
        return make(fun)(*args)
    what = Transformation(key, make, fun, range, True)
    return _unit_of(what).run(what, make(fun), args, {})


def jitted_inside(fun: Any, key: tuple, args: tuple) -> Any:
    """Return `fun`, or its jitted form if it is pure: it will be transformed and called once with `args`."""
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
    """Clear all traces and executables of transformed functions."""
    with _lock:
        for unit in _units.values():
            unit.forget()
        _units.clear()


def _allowed(settings: Any) -> bool:
    """Return whether the settings allow an executable in place of eager operations."""
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
    """Unwrap transformations: return the user's function, and them from the outermost on."""
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
    """Cache the signatures of one transformation of functions of the same code."""

    __slots__ = ("changes", "known", "lock", "off")

    def __init__(self) -> None:
        self.known: dict[tuple, Any] = {}
        self.changes = 0
        self.off = False
        self.lock = threading.Lock()

    def forget(self) -> None:
        self.known, self.changes, self.off = {}, 0, False

    def run(self, what: Transformation, plain: Callable, args: tuple, kwargs: dict) -> Any:
        """Call the transformed function: compiled if possible, else eagerly."""
        found = self.program(what, args, kwargs)
        if found is not None:
            signature, program, operands = found
            try:
                return program.call(*operands)
            except (SagaxError, *FAILURES) as error:
                # Uncompilable functions and deleted arrays: the eager path has the better messages.
                _tell(what, error)
                result = plain(*args, **kwargs)
            self.known[signature] = _Never
            return result
        return plain(*args, **kwargs)

    def program(
        self, what: Transformation, args: tuple, kwargs: dict
    ) -> tuple[tuple, _Program, list] | None:
        """Return the signature of a call, its executable, and its operands; None: run eagerly."""
        settings = _thread.settings
        if self.off or not _allowed(settings):
            return None
        try:
            leaves, tree = _flatten((args, kwargs))
        except (ValueError, TypeError, SystemError):
            return None  # the eager path raises the message
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
        if len(self.known) > _MOST_SIGNATURES:  # such as a number that differs at each call
            entries = list(self.known.items())  # other threads may add to it meanwhile
            kept = {k: v for k, v in entries if type(v) is _Program}
            self.known = kept if len(kept) < _MOST_SIGNATURES // 2 else {}

    def _changed(self) -> None:
        """Handle a change of a captured value: trace again, up to a limit."""
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
        """Compile a signature that was called `count` times, if that is often enough."""
        waiting: Any = self.known.get((signature, "waiting"))
        if waiting is None:
            try:
                waiting = _traced(what, given, signature[0], leaves, statics)
            except Exception as error:
                # Its control flow depends on values, or its purity is unknown. Tracing runs user
                # code, which may raise anything.
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
    """Hold a transformed function traced for one signature; it compiles at its first call."""

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
    """Emit an event that a signature stays eager, with the reason."""
    if events.events:
        events.events.notify(
            "/sagax/eager_transforms/not_compiled",
            fun_name=function_name(_base_of(what)[0]),
            error=f"{type(error).__name__}: {error}",
        )


def _arrays(reads: purity.Reads, base: Any) -> list | None:
    """Return the arrays that the function captures; None if one is no array."""
    try:
        values = reads.values(base)
    except (LookupError, ValueError):
        return None
    return values if all(type(v) is ConcreteArray for v in values) else None


def _sorted_out(
    what: Transformation, args: tuple, leaves: list
) -> tuple[list, dict[int, Any], list] | None:
    """Sort leaves into operands, constants by position, and the rest of the key.

    None if a leaf is neither. The eager function gets Python numbers unchanged, except the
    differentiated ones, and may compute with them in Python. So they are constants here.
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
    """Return for each leaf of the arguments whether its argument is dynamic."""
    moving = set(what.moving(len(args)))
    marks: list[bool] = []
    for i, arg in enumerate(args):
        marks.extend([i in moving] * len(trees.leaves(arg)))
    return marks + [False] * (n - len(marks))


def _traced(
    what: Transformation, given: tuple, tree: Any, leaves: list, statics: dict[int, Any] | None
) -> _Program:
    """Trace the transformed function as a jaxpr of flat operands. Raises if tracing fails."""
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

    source = [base]  # only for tracing: do not keep its free variables alive

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
    # for compile counters: the code, without free variables
    program.written_as = getattr(base, "__code__", None)  # type: ignore[attr-defined]
    # exact: compiled calls must equal eager ones bit by bit
    call = jit(program, stale="ignore", exact=True)
    closed = call.trace(*values, *leaves).jaxpr
    source.clear()
    if closed.effects or any(a.dtype == dtypes.float0 for a in closed.out_avals):
        raise purity.Impure("it has effects")
    calls = tuning.EAGER_TRANSFORM_CALLS_PER_EQUATION * _size(closed.jaxpr)
    return _Program(call, reads, int(calls))


def _size(jaxpr: Jaxpr) -> int:
    """Count the operations of a jaxpr, those of sub-jaxprs included."""
    return sum([1 + sum(map(_size, subjaxprs(e.params))) for e in jaxpr.eqns])


def _check_nodes(tree: Any) -> None:
    """Raise for containers whose class may define methods."""
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
