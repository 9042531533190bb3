"""Compile eager transformations of provably pure functions.

`grad(f)(x)` outside of jit calls f each time, operation by operation. From the third call of a
signature on, a pure f (`function_analysis/purity.py`) is compiled: the transformed function is
traced, and a call runs its executable, after a check that the captured values are unchanged. If f
is not provably pure, or cannot be traced because its control flow depends on values, it stays
eager. The executable rounds after each operation, so results are bit-identical.
"""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import config, fork_locks, trees, tuning
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
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.diagnostics.spans import is_sagax
from sagax._src.function_analysis.identity import Same
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.call_paths import FAILURES

if TYPE_CHECKING or lazy_imports():
    from sagax._src.function_analysis import purity


_MAX_CACHES = 256
_MAX_CHANGES = 5
_MAX_SIGNATURES = 256
_SCALARS = frozenset((bool, int, float, complex))
_NAMES = frozenset((str, bytes, type(None)))
_NODES = (tuple, list, dict, type(None), OrderedDict)

_flatten = trees.engine_flatten
_thread = config.thread
_lock = fork_locks.lock()
_caches: OrderedDict[tuple, _SignatureCache] = OrderedDict()
_allowing: dict[Any, bool] = {}

Transform = Callable[[Any], Callable[..., Any]]


class _Eager:
    """Mark a signature that stays eager."""


class Transformation:
    """Describe a transformed function; the function has it as `_transformation`.

    `transform(fun)` returns the eager function. `dynamic(n)` returns which of n positional
    arguments are flattened into operands. `dynamic_scalars` tells whether Python numbers among
    their leaves are operands; otherwise they are constants of the jaxpr.
    """

    __slots__ = ("fun", "key", "transform", "dynamic", "dynamic_scalars")

    def __init__(
        self,
        key: tuple,
        transform: Transform,
        fun: Any,
        dynamic: Callable[[int], Sequence[int]],
        dynamic_scalars: bool,
    ) -> None:
        self.key, self.transform, self.fun = key, transform, fun
        self.dynamic, self.dynamic_scalars = dynamic, dynamic_scalars


def transformed(
    fun: Any,
    key: tuple,
    transform: Transform,
    *,
    dynamic: Callable[[int], Sequence[int]],
    dynamic_scalars: bool = True,
) -> Callable[..., Any]:
    """Return `transform(fun)`, which compiles frequent signatures outside of any tracing.

    Args:
      fun: the user's function.
      key: identifies the transformation and its options, for any function.
      transform: returns the transformed function, of `fun` or of an equivalent function.
      dynamic, dynamic_scalars: see `Transformation`.
    """
    eager = transform(fun)
    transformation = Transformation(key, transform, fun, dynamic, dynamic_scalars)
    cache: _SignatureCache | None = None

    @wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal cache
        if state.trace is not evaluation:
            return eager(*args, **kwargs)
        if cache is None:
            cache = _cache_for(transformation)
        return cache.run(transformation, eager, args, kwargs)

    call._transformation = transformation  # type: ignore[attr-defined]
    return call


def derivative(name: str, fun: Any, transform: Transform, options: tuple) -> Callable[..., Any]:
    """Return `transform(fun)`, which differentiates positional arguments, compiled when frequent.

    `options` are those of the transformation called `name`: argnums, then flags.
    """
    arguments.check_callable(fun, name)
    nums = checks.positions(name, "argnums", options[0])
    key = (name, nums, checks.is_index(options[0]), *options[1:])
    return transformed(fun, key, transform, dynamic=arguments.positions_in_range(nums))


def applied(fun: Any, key: tuple, transform: Transform, args: tuple) -> Any:
    """Compute `transform(fun)(*args)`, with all arguments dynamic, compiled when frequent."""
    if state.trace is not evaluation:
        return transform(fun)(*args)
    transformation = Transformation(key, transform, fun, range, True)
    return _cache_for(transformation).run(transformation, transform(fun), args, {})


def jit_if_pure(fun: Any, key: tuple, args: tuple) -> Any:
    """Return `fun`, or its jitted form if it is pure: it will be transformed and called once with `args`."""
    if state.trace is not evaluation:
        return fun
    transformation = Transformation(key, _itself, fun, range, True)
    found = _cache_for(transformation).look_up(transformation, args, {})
    if found is None:
        return fun
    _, look_up, operands = found
    call, hidden = look_up.call, operands[: len(operands) - len(trees.leaves(args))]

    @wraps(fun)
    def jitted(*given: Any) -> Any:
        try:
            return call(*hidden, *trees.leaves(given))
        except _Cleared:
            return fun(*given)

    return jitted


def _itself(fun: Any) -> Any:
    return fun


def clear() -> None:
    """Clear all traces and executables of transformed functions."""
    with _lock:
        for cache in _caches.values():
            cache.forget()
        _caches.clear()


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


def _unwrap(transformation: Transformation) -> tuple[Any, list[Transformation]]:
    """Unwrap transformations: return the user's function, and them from the outermost on."""
    chain = [transformation]
    while True:
        fun = chain[-1].fun
        inner = getattr(fun, "__dict__", {}).get("_transformation")
        if inner is None:
            return fun, chain
        chain.append(inner)


def _cache_for(transformation: Transformation) -> _SignatureCache:
    base, chain = _unwrap(transformation)
    if type(base) is types.FunctionType and not is_sagax(base.__code__.co_filename):
        of = (Same(base.__code__), Same(base.__globals__))
    else:
        of = (Same(base),)
    key = (*[t.key for t in chain], *of)
    try:
        hash(key)
    except TypeError:
        return _SignatureCache()
    with _lock:
        found = _caches.pop(key, None) or _SignatureCache()
        _caches[key] = found
        if len(_caches) > _MAX_CACHES:
            _caches.popitem(last=False)
        return found


class _SignatureCache:
    """Cache the signatures of one transformation of functions of the same code."""

    __slots__ = ("changes", "entries", "lock", "off")

    def __init__(self) -> None:
        self.entries: dict[tuple, Any] = {}
        self.changes = 0
        self.off = False
        self.lock = fork_locks.lock()

    def forget(self) -> None:
        self.entries, self.changes, self.off = {}, 0, False

    def run(
        self, transformation: Transformation, eager: Callable, args: tuple, kwargs: dict
    ) -> Any:
        """Call the transformed function: compiled if possible, else eagerly."""
        found = self.look_up(transformation, args, kwargs)
        if found is not None:
            signature, look_up, operands = found
            try:
                return look_up.call(*operands)
            except _Cleared:  # by another thread, between the look-up and the call
                self.entries.pop(signature, None)
                return eager(*args, **kwargs)
            except (SagaxError, *FAILURES) as error:
                # Uncompilable functions and deleted arrays: the eager path has the better messages.
                _notify_uncompiled(transformation, error)
                result = eager(*args, **kwargs)
            self.entries[signature] = _Eager
            return result
        return eager(*args, **kwargs)

    def look_up(
        self, transformation: Transformation, args: tuple, kwargs: dict
    ) -> tuple[tuple, _Compiled, list] | None:
        """Return the signature of a call, its executable, and its operands; None: run eagerly."""
        settings = _thread.settings
        if self.off or not _allowed(settings):
            return None
        try:
            leaves, tree = _flatten((args, kwargs))
        except Exception:
            trees.restore_recursion_depth((args, kwargs))
            return None  # the eager path raises the message
        key: list = [tree, settings]
        statics: dict[int, Any] | None = None
        for x in leaves:
            if type(x) is not ConcreteArray:
                sorted_leaves = _sort_leaves(transformation, args, leaves)
                if sorted_leaves is None:
                    return None
                leaves, statics, more = sorted_leaves
                key.extend(more)
                break
            key.append(x.aval)
        signature = tuple(key)
        found = self.entries.get(signature)
        if type(found) is not _Compiled:
            if found is _Eager:
                return None
            count = 1 if found is None else found + 1
            if count < tuning.EAGER_TRANSFORM_COMPILE_FROM_CALL:
                self._count(signature, count)
                return None
            found = self._prepare(transformation, signature, count, (args, kwargs), leaves, statics)
            if found is None:
                return None
        base, captured = found.base(transformation), found.captured
        if not captured.are_unchanged(base):
            self._changed()
            return None
        if captured.arrays:
            values = _captured_arrays(captured, base)
            if values is None:
                return None
            leaves = [*values, *leaves]
        return signature, found, leaves

    def _count(self, signature: tuple, count: int) -> None:
        self.entries[signature] = count
        if len(self.entries) > _MAX_SIGNATURES:  # such as a number that differs at each call
            entries = list(self.entries.items())  # other threads may add to it meanwhile
            fixed_values = {k: v for k, v in entries if type(v) is _Compiled}
            self.entries = fixed_values if len(fixed_values) < _MAX_SIGNATURES // 2 else {}

    def _changed(self) -> None:
        """Handle a change of a captured value: trace again, up to a limit."""
        with self.lock:
            self.changes += 1
            self.off = self.changes > _MAX_CHANGES
            self.entries = {}

    def _prepare(
        self,
        transformation: Transformation,
        signature: tuple,
        count: int,
        given: tuple,
        leaves: list,
        statics: dict[int, Any] | None,
    ) -> _Compiled | None:
        """Compile a signature that was called `count` times, if that is often enough."""
        pending: Any = self.entries.get((signature, "pending"))
        if pending is None:
            try:
                pending = _trace(transformation, given, signature[0], leaves, statics)
            except Exception as error:
                # Its control flow depends on values, or its purity is unknown. Tracing runs user
                # code, which may raise anything.
                _notify_uncompiled(transformation, error)
                self.entries[signature] = _Eager
                return None
            if pending.patience > count:
                self.entries[signature, "pending"] = pending
        if pending.patience > count:
            self.entries[signature] = count
            return None
        self.entries.pop((signature, "pending"), None)
        self.entries[signature] = pending
        return pending


class _Compiled:
    """Hold a transformed function traced for one signature; it compiles at its first call."""

    __slots__ = ("call", "patience", "captured")

    def __init__(self, call: JitFunction, captured: purity.FreeVariables, patience: int) -> None:
        self.call, self.captured, self.patience = call, captured, patience

    @staticmethod
    def base(transformation: Transformation) -> Any:
        fun = transformation.fun
        inner = getattr(fun, "__dict__", None)
        while inner and "_transformation" in inner:
            fun = inner["_transformation"].fun
            inner = getattr(fun, "__dict__", None)
        return fun


def _notify_uncompiled(transformation: Transformation, error: Exception) -> None:
    """Emit an event that a signature stays eager, with the reason."""
    if events.events:
        events.events.notify(
            "/sagax/eager_transforms/not_compiled",
            fun_name=function_name(_unwrap(transformation)[0]),
            error=f"{type(error).__name__}: {error}",
        )


def _captured_arrays(captured: purity.FreeVariables, base: Any) -> list | None:
    """Return the arrays that the function captures; None if one is no array."""
    try:
        values = captured.values(base)
    except (LookupError, ValueError):
        return None
    return values if all(type(v) is ConcreteArray for v in values) else None


def _sort_leaves(
    transformation: Transformation, args: tuple, leaves: list
) -> tuple[list, dict[int, Any], list] | None:
    """Sort leaves into operands, constants by position, and the rest of the key.

    None if a leaf is neither. The eager function gets Python numbers unchanged, except the
    differentiated ones, and may compute with them in Python. So they are constants here.
    """
    marks = (
        _dynamic_marks(transformation, args, len(leaves))
        if transformation.dynamic_scalars
        else None
    )
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


def _dynamic_marks(transformation: Transformation, args: tuple, n: int) -> list[bool]:
    """Return for each leaf of the arguments whether its argument is dynamic."""
    dynamic = set(transformation.dynamic(len(args)))
    marks: list[bool] = []
    for i, arg in enumerate(args):
        marks.extend([i in dynamic] * len(trees.leaves(arg)))
    return marks + [False] * (n - len(marks))


def _trace(
    transformation: Transformation,
    given: tuple,
    tree: Any,
    leaves: list,
    statics: dict[int, Any] | None,
) -> _Compiled:
    """Trace the transformed function as a jaxpr of flat operands. Raises if tracing fails."""
    args, kwargs = given
    base, chain = _unwrap(transformation)
    _check_nodes(tree)
    dynamic = set(transformation.dynamic(len(args)))
    fixed_values = [a for i, a in enumerate(args) if i not in dynamic] + list(kwargs.values())
    containers = any(_has_container(a) for a in fixed_values)
    called = [x for x in (statics or {}).values() if callable(x)]
    captured = purity.pure_free_variables(base, called, containers)
    values = _captured_arrays(captured, base)
    if values is None:
        raise purity.Impure("what it reads are no arrays")
    first, constants = len(values), sorted((statics or {}).items())
    transforms = [t.transform for t in reversed(chain)]

    source = [base]  # only for tracing: do not keep its free variables alive

    def flat_fun(*operands: Any) -> Any:
        if not source:
            raise _Cleared
        fun = captured.with_values(source[0], operands[:first])
        for transform in transforms:
            fun = transform(fun)
        full = list(operands[first:])
        for i, x in constants:
            full.insert(i, x)
        some, named = tree.unflatten(full)
        result = fun(*some, **named)
        numbers = {id(x) for x in operands[first:] if x.weak_type and not x.shape}
        if any(id(x) in numbers for x in trees.leaves(result)):
            raise purity.Impure("it passes on a number, which a compiled function makes an array")
        return _with_untraced_results(result)

    flat_fun.__name__ = flat_fun.__qualname__ = function_name(base)
    flat_fun.__module__ = getattr(base, "__module__", flat_fun.__module__)
    # for compile counters: the code, without free variables
    flat_fun.source_code = getattr(base, "__code__", None)  # type: ignore[attr-defined]
    # exact: compiled calls must equal eager ones bit by bit
    call = jit(flat_fun, stale="ignore", exact=True)
    closed = call.trace(*values, *leaves).jaxpr
    source.clear()
    if closed.effects or any(a.dtype == dtypes.float0 for a in closed.out_avals):
        raise purity.Impure("it has effects")
    calls = tuning.EAGER_TRANSFORM_CALLS_PER_EQUATION * _count_operations(closed.jaxpr)
    return _Compiled(call, captured, int(calls))


class _Cleared(Exception):
    """The trace of a compiled transformation is no longer cached."""


class _Untraced:
    """A value that a function returns as it is, in the structure of the result; without leaves."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


_node: Any = _Untraced  # the value itself after unflattening
trees.register_pytree_node(_node, lambda x: ((), x), lambda box, _: box.value)


def _is_untraced(x: Any) -> bool:
    """Return whether `x`, a result of a traced function, is a number or an array of NumPy."""
    return type(x) in _SCALARS or (type(x) is np.ndarray and x.dtype != dtypes.float0)


def _with_untraced_results(result: Any) -> Any:
    """Return a result whose numbers and NumPy arrays stay such: a compiled function would convert them."""
    leaves, tree = trees.flatten(result)
    if not any(map(_is_untraced, leaves)):
        return result
    return tree.unflatten([_Untraced(x) if _is_untraced(x) else x for x in leaves])


def _count_operations(jaxpr: Jaxpr) -> int:
    """Count the operations of a jaxpr, those of sub-jaxprs included."""
    return sum([1 + sum(map(_count_operations, subjaxprs(e.params))) for e in jaxpr.eqns])


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
