"""Evaluate composite functions as one operation outside of tracing.

Inside a program that is being traced they are just their operations, so that jaxprs stay flat and
the compiler sees everything. Called on arrays, what they do is found out once for each signature;
then they take one dispatch instead of many.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any, Literal, TypeVar

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config, trees
from sagax._src.core.dispatch_keys import call_key
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, subjaxprs
from sagax._src.core.staging import StageTrace, stage
from sagax._src.core.trace import Tracer, current_trace, evaluation, state
from sagax._src.core.value import aval_of
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import JAXIndexError, JAXTypeError, SagaxError
from sagax._src.higher_order.call import call as call_program
from sagax._src.primitives.selection import select_n_p
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.runtime.call_paths import FAILURES
from sagax._src.runtime.compile import placement
from sagax._src.runtime.eager import new_table, parts_of, prepare, remember
from sagax._src.source_stacks import capture

F = TypeVar("F", bound=Callable[..., Any])
_own, _process = config.own, config.process
_new = object.__new__
_SCALARS = frozenset((bool, int, float, complex))
# What composite functions raise of operands that do not fit; a warning may be an error too.
_NEEDS_VALUES = (JAXTypeError, JAXIndexError)
_REFUSED = (SagaxError, *FAILURES, ArithmeticError, Warning)


def fused(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `fun`, which takes arrays by position and hashable parameters by keyword."""
    prepared = new_table()
    with_numbers = new_table()  # how to run it, and the operands that Python numbers become

    @functools.wraps(fun)
    def call(*arrays: Any, **static: Any) -> Any:
        if (work := current_trace()) is not None and _traces(work):
            settings = _own() or _process.settings
            if (settings.exact or settings.debug_nans or settings.debug_infs) and _is_one_call():
                program = functools.partial(fun, **static)
                name = fun.__name__.strip("_")
                return _as_call(program, arrays, name, (fun, *static.items()))
            return _with_origin(work.here, fun, arrays, static)
        settings = _own() or _process.settings
        key: list = [settings]
        for x in arrays:
            if type(x) is not ConcreteArray or x._device is not None:
                break
            key.append(x.aval)
        else:
            if static:
                key.extend(static.items())
            found = prepared.get(tuple(key))
            if found is not None:
                return found(arrays)
        numbers = None
        if arrays and _SCALARS.issuperset(map(type, arrays)):
            of_each = [y for x in arrays for y in (type(x), _distinct_key(x))]
            numbers = (settings, *of_each, *static.items())
            cached = with_numbers.get(numbers)
            if cached is not None:
                return cached[0](cached[1])
        found = [x if type(x) is ConcreteArray else _operand(x) for x in arrays]
        operands = tuple([x for x in found if x is not None])
        if len(operands) < len(arrays):
            return fun(*arrays, **static)
        signature = call_key([x.aval for x in operands], placement(operands), static.items())
        found = prepared.get(signature)
        if found is None:
            program = functools.partial(fun, **static) if static else fun
            found = _prepared(program, operands, fun.__name__.strip("_"))
            if found is None:
                return fun(*arrays, **static)
            remember(prepared, signature, found)
        if numbers is not None:
            remember(with_numbers, numbers, (found, operands))  # type: ignore[arg-type]
        return found(operands)

    return call


# A dtype is not among them: asking for one may have to warn, at each call.
_STRUCTURAL = frozenset((int, bool, str, type(None)))


def fused_function(
    count: int,
    by_numpy: Callable[..., Callable | None] | None = None,
    *,
    floats: Literal["refused", "operands", "static"] = "refused",
) -> Callable[[F], F]:
    """Wrap a public function of `count` arrays, then optional arrays, shapes, axes, dtypes and modes.

    Called on arrays, with other arguments of simple types, it is one operation for each signature; any
    other call is as without this. `by_numpy`: from the types of the arrays and the other arguments to
    a function of NumPy arrays that does the same, as `prepare` takes it, or None. `floats`: floats among
    the other arguments are operands, as arrays are, so no choice may depend on them; or each makes
    a signature of its own.
    """

    def decorate(fun: F) -> F:
        prepared = new_table()

        @functools.wraps(fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            if (work := current_trace()) is not None and _traces(work):
                settings = _own() or _process.settings
                if (
                    (settings.exact or settings.debug_nans or settings.debug_infs)
                    and _is_one_call()
                    and (parts := _operands_apart(args[count:], kwargs, floats)) is not None
                ):
                    rest, named, more = parts
                    program = functools.partial(_with_rest, fun, rest, named)
                    given = (*rest, *named.values())
                    identity = (fun, *rest, *named.items(), *map(type, given))
                    return _as_call(program, (*args[:count], *more), fun.__name__, identity)
                return _with_origin(work.here, fun, args, kwargs)
            key: list = [_own() or _process.settings]
            arrays = args[:count]
            for x in arrays:
                if type(x) is not ConcreteArray or x._device is not None:
                    return fun(*args, **kwargs)
                key.append(x.aval)
            if len(args) > count or kwargs:
                for v in (*args[count:], *kwargs.values()):
                    kind = type(v)
                    if kind in _STRUCTURAL:
                        key.append(kind)
                        key.append(v)
                    elif kind is tuple:
                        for k in map(type, v):
                            if k is not int:
                                return fun(*args, **kwargs)
                        key.append(kind)
                        key.append(v)
                    else:
                        if kind is float and floats == "static" and v == v:
                            key.append(v)
                            continue
                        x = _operand(v) if kind is float and floats == "operands" else v
                        if type(x) is not ConcreteArray or x._device is not None:
                            return fun(*args, **kwargs)
                        key.append(x.aval)
                        arrays += (x,)
                key.extend(kwargs)
            signature = tuple(key)
            found = prepared.get(signature)
            if found is None:
                if len(args) < count:  # an array by keyword
                    return fun(*args, **kwargs)
                replace = functools.partial(remember, prepared, signature)
                static = (
                    _STRUCTURAL | {tuple, float} if floats == "static" else _STRUCTURAL | {tuple}
                )
                found = _prepared_function(
                    fun, args[:count], args[count:], kwargs, arrays, static, by_numpy, replace
                )
                if found is None:
                    return fun(*args, **kwargs)
                remember(prepared, signature, found)
            if found is _stepwise:
                return fun(*args, **kwargs)
            return found(arrays)

        if count == 1 and by_numpy is None:
            return _quick1(fun, call)
        return _quick2(fun, call, prepared) if count == 2 else call  # type: ignore[return-value]

    return decorate


def _prepared_function(
    fun: Callable,
    first: tuple,
    rest: tuple,
    kwargs: dict,
    arrays: tuple,
    static: frozenset,
    by_numpy: Callable | None,
    replace: Callable[[Callable], None],
) -> Callable | None:
    """Compile a call of a public function; None if it must raise or warn at each call.

    `arrays` are the first arguments, then those others whose type is not among `static`.
    """
    quick = None
    if len(arrays) > len(first):
        rest = tuple([v if type(v) in static else _OPERAND for v in rest])
        kwargs = {k: v if type(v) in static else _OPERAND for k, v in kwargs.items()}
    elif by_numpy is not None:
        quick = by_numpy([x.aval for x in arrays], *rest, **kwargs)
    program = functools.partial(_with_rest, fun, rest, kwargs)
    return _prepared(program, arrays, fun.__name__, quick, replace, _stepwise)


def _stepwise(arrays: Sequence) -> Any:
    """Stand for signatures whose operations have to run one by one, as they need values."""
    raise AssertionError


_OPERAND = object()  # in place of an argument that is an operand


_missing: Any = object()


def operation1(fun: F) -> F:
    """Wrap a function of one operand, evaluated as one operation for each signature."""
    return _quick1(fun, fun)


def _quick1(fun: F, general: Callable[..., Any]) -> F:
    """Wrap a function to be one operation when it is called with one array; other calls are `general`."""
    prepared = new_table()
    # by the type alone: the settings of the last call, and the parts of what ran
    latest = new_table()

    @functools.wraps(fun)
    def call(x: Any = _missing, /, *rest: Any, **kwargs: Any) -> Any:
        if rest or kwargs or x is _missing:
            return general(*(() if x is _missing else (x, *rest)), **kwargs)
        if (work := current_trace()) is not None and _traces(work):
            settings = _own() or _process.settings
            if (settings.exact or settings.debug_nans or settings.debug_infs) and _is_one_call():
                return _as_call(fun, (x,), fun.__name__, (fun,))
            here = work.here
            if here.origin is not None:
                return fun(x)
            here.origin, here.around = capture(), here.outer
            try:
                return fun(x)
            finally:
                here.origin = None
        if type(x) is not ConcreteArray or x._device is not None:
            return fun(x)
        settings = _own() or _process.settings
        found = latest.get(x.aval)
        if found is None or found[0] is not settings:
            key = (settings, x.aval)
            run = prepared.get(key)
            if run is None:

                def replace(run: Callable) -> None:
                    remember(prepared, key, run)
                    latest.pop(key[1], None)

                run = _prepared(fun, (x,), fun.__name__, None, replace, _stepwise)
                if run is None:
                    return fun(x)
                remember(prepared, key, run)
            parts = parts_of(run) or (None, None, None)
            found = remember(latest, x.aval, (settings, *parts, run))
        _, execute, handlers, aval, run = found
        if execute is None:
            return run((x,)) if run is not _stepwise else fun(x)
        buffer = x._buffer
        if buffer is None:
            buffer = x.buffer()
        try:
            (out,) = execute([buffer]).consume_with_handlers(handlers)
        except FAILURES:
            return run((x,))  # which raises the error with its explanation
        result = _new(ConcreteArray)  # what its __init__ does, without a call of it
        result.aval = aval
        result._host = None
        result._buffer = out
        result._device = None
        return result

    return call  # type: ignore[return-value]


def _quick2(fun: F, general: Callable[..., Any], prepared: dict) -> F:
    """Wrap a function to find at once what two arrays without other arguments take."""

    @functools.wraps(fun)
    def call(x: Any = _missing, y: Any = _missing, /, *rest: Any, **kwargs: Any) -> Any:
        if rest or kwargs or type(x) is not ConcreteArray or type(y) is not ConcreteArray:
            given = (v for v in (x, y) if v is not _missing)
            return general(*given, *rest, **kwargs)
        if x._device is None and y._device is None and current_trace() is None:
            found = prepared.get((_own() or _process.settings, x.aval, y.aval))
            if found is not None and found is not _stepwise:
                return found((x, y))
        return general(x, y)

    return call  # type: ignore[return-value]


def operation2(fun: F) -> F:
    """Wrap a function of two operands (one may be a number), as `operation1` does."""
    prepared = new_table()
    name = fun.__name__

    @functools.wraps(fun)
    def call(x: Any, y: Any, /) -> Any:
        if (found := current_trace()) is not None and _traces(found):
            settings = _own() or _process.settings
            if (settings.exact or settings.debug_nans or settings.debug_infs) and _is_one_call():
                return _as_call(fun, _two(name, x, y), name, (fun,))
            here = found.here
            if here.origin is not None:
                return fun(x, y)
            here.origin, here.around = capture(), here.outer
            try:
                return fun(x, y)
            finally:
                here.origin = None
        a, b = x, y
        if type(x) is ConcreteArray:
            if type(y) is not ConcreteArray:
                b = _operand_like(name, x, y)
        elif type(y) is ConcreteArray:
            a = _operand_like(name, y, x)
        else:
            return fun(x, y)
        if a is None or b is None or a._device is not None or b._device is not None:
            return fun(x, y)
        key = (_own() or _process.settings, a.aval, b.aval)
        found = prepared.get(key)
        if found is None:
            found = _prepared(fun, (a, b), name)
            if found is None:
                return fun(x, y)
            remember(prepared, key, found)
        return found((a, b))

    return call  # type: ignore[return-value]


def operation3(fun: F) -> F:
    """Wrap a function of three operands, evaluated as `fused` does; arrays take the least overhead."""
    prepared = new_table()

    @functools.wraps(fun)
    def call(x: Any, y: Any, z: Any, /) -> Any:
        if (
            type(x) is not ConcreteArray
            or type(y) is not ConcreteArray
            or type(z) is not ConcreteArray
            or (current_trace() is not None and state.trace is not evaluation)
            or x._device is not None
            or y._device is not None
            or z._device is not None
        ):
            return other(x, y, z)
        key = (_own() or _process.settings, x.aval, y.aval, z.aval)
        found = prepared.get(key)
        if found is None:
            found = _prepared(fun, (x, y, z), fun.__name__)
            if found is None:
                return fun(x, y, z)
            remember(prepared, key, found)
        return found((x, y, z))

    other = fused(fun)
    return call  # type: ignore[return-value]


def _traces(work: Any) -> bool:
    """Return whether this thread is tracing (as `state.trace` tells, sooner)."""
    return work.trace is not evaluation and work.thread == get_ident()


def _with_origin(here: Any, fun: Callable, args: tuple, kwargs: dict) -> Any:
    """Call `fun`, and attribute all its operations to the line of the call."""
    if here.origin is not None:
        return fun(*args, **kwargs)
    here.origin, here.around = capture(), here.outer
    try:
        return fun(*args, **kwargs)
    finally:
        here.origin = None


def _is_one_call() -> bool:
    """Return whether fused functions are one operation each for the current trace.

    They are where a jaxpr is recorded that has to compute what is computed without a trace, and where NaNs are looked
    for while an eager function is transformed: what a formula masks must not be seen.
    """
    settings = _own() or _process.settings
    if settings.exact:
        return (
            type(state.trace) is StageTrace
            and not settings.disable_jit
            and settings.numpy_rank_promotion == "allow"
        )
    trace: Any = None if settings.disable_jit else state.trace
    while trace is not None and trace is not evaluation:
        if type(trace) is StageTrace:
            return False
        trace = trace.parent
    return trace is evaluation


# jaxprs of fused functions, and the trees of their results
_staged = new_table()


def _as_call(fun: Callable, operands: tuple, name: str, key: tuple) -> Any:
    """Bind `fun` as one call, which the current trace records or transforms; `key` tells it from others."""
    arrays = [x if hasattr(x, "aval") else _operand(x) for x in operands]
    if any(x is None for x in arrays):
        return fun(*operands)
    signature = (_own() or _process.settings, key, *[aval_of(x) for x in arrays])
    is_recorded = type(state.trace) is StageTrace  # with the lines of this call
    found = None if is_recorded else _staged.get(signature)
    if found is None:
        try:
            found = _stage(fun, signature[2:])
        except (
            _REFUSED
        ) as error:  # the function itself raises it again, about the operands that it was given
            _notify_uncompiled(name, error)
            return fun(*operands)
        if not (is_recorded or any(isinstance(c, Tracer) for c in found[0].consts)):
            remember(_staged, signature, found)
    closed, tree = found
    if not is_recorded and not _masks_nans(closed.jaxpr):
        return _with_origin(_work().here, fun, operands, {})
    if is_recorded:
        return tree.unflatten(call_program(closed, arrays, name=name))
    bind = functools.partial(call_program, name=name, is_formula=True)
    return tree.unflatten(_with_origin(_work().here, bind, (closed, arrays), {}))


def _work() -> Any:
    """Return the work of this thread; a transformation is at work."""
    work = current_trace()
    assert work is not None
    return work


def _masks_nans(jaxpr: Jaxpr) -> bool:
    """Return whether a formula may choose among values that include a NaN.

    Others are not called as a whole: a selection inside of a call masks no cotangents of values outside.
    """
    return _selects(jaxpr) and any(
        e.primitive.creates_nan or e.primitive.is_higher_order for e in jaxpr.eqns
    )


def _selects(jaxpr: Jaxpr) -> bool:
    """Return whether a jaxpr selects, at any depth; functions with derivative rules may."""
    for e in jaxpr.eqns:
        if e.primitive is select_n_p:
            return True
        if e.primitive.is_higher_order:
            inner = subjaxprs(e.params)
            if not inner or "rules" in e.params or any(map(_selects, inner)):
                return True
    return False


def _stage(fun: Callable, avals: Sequence[Any]) -> tuple[ClosedJaxpr, Any]:
    tree: Any = None

    def flat(*tracers: Any) -> list:
        nonlocal tree
        leaves, tree = trees.flatten(fun(*tracers))
        return leaves

    with config.context(exact=False):
        jaxpr, consts = stage(flat, avals)
    return ClosedJaxpr(jaxpr, consts), tree


def _two(name: str, x: Any, y: Any) -> tuple:
    """Convert a number among two operands to one that combines with the other, an array."""
    if hasattr(x, "aval") and type(y) in _SCALARS:
        converted = _operand_like(name, x, y)
        return x, y if converted is None else converted
    if hasattr(y, "aval") and type(x) in _SCALARS:
        converted = _operand_like(name, y, x)
        return x if converted is None else converted, y
    return x, y


def _operands_apart(rest: tuple, kwargs: dict, floats: str) -> tuple[tuple, dict, list] | None:
    """Put `_OPERAND` for what is an operand among arguments; None if a signature cannot hold the others."""
    operands: list = []

    def static(v: Any) -> Any:
        kind = type(v)
        if kind in _STRUCTURAL or (kind is float and floats == "static" and v == v):
            return v
        if kind is tuple and set(map(type, v)) <= {int}:
            return v
        if not (hasattr(v, "aval") or (kind is float and floats == "operands")):
            raise LookupError
        operands.append(v)
        return _OPERAND

    try:
        return tuple(map(static, rest)), {k: static(v) for k, v in kwargs.items()}, operands
    except LookupError:
        return None


def _with_rest(fun: Callable, rest: tuple, kwargs: dict, *arrays: Any) -> Any:
    """Call `fun` with arrays first; the last ones take the places of operands in `rest` and `kwargs`."""
    places = sum([v is _OPERAND for v in (*rest, *kwargs.values())])
    if not places:
        return fun(*arrays, *rest, **kwargs)
    more = iter(arrays[-places:])
    rest = tuple([next(more) if v is _OPERAND else v for v in rest])
    kwargs = {k: next(more) if v is _OPERAND else v for k, v in kwargs.items()}
    return fun(*arrays[:-places], *rest, **kwargs)


def _prepared(
    fun: Callable,
    arrays: tuple,
    name: str,
    by_numpy: Callable | None = None,
    replace: Callable[[Callable], None] | None = None,
    stepwise: Callable | None = None,
) -> Callable | None:
    """Compile `fun` for such arrays; None if it must raise or warn at each call.

    Return `stepwise` if it depends on values of the arrays. `replace` is given a faster call, if there is one later.
    """
    settings = _own() or _process.settings
    if settings.disable_jit or settings.numpy_rank_promotion != "allow":
        return None
    if events.operation_evaluated.function is not None:
        return None  # each operation is run by itself, to be seen
    try:
        return prepare(fun, arrays, name, by_numpy, replace)
    except (
        _REFUSED
    ) as error:  # the function itself raises it again, about the arrays that it was given
        _notify_uncompiled(name, error)
        return stepwise if isinstance(error, _NEEDS_VALUES) else None


def _notify_uncompiled(name: str, error: Exception) -> None:
    """Tell listeners that the operations of a composite function run one by one, and why."""
    if events.events:
        text = f"{type(error).__name__}: {error}"
        events.events.notify("/sagax/composite/not_compiled", fun_name=name, error=text)


_numbers = new_table()


def _distinct_key(x: Any) -> Any:
    """Return a cache key of a number that tells 0.0 from -0.0, and 1 + 0j from 1 - 0j."""
    return x if x and type(x) is not complex else repr(x)


def _operand(x: Any) -> ConcreteArray | None:
    """Convert a number or NumPy array to an array; None for other values, or if a warning is due."""
    kind = type(x)
    if kind not in _SCALARS:
        supported = isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biufc"
        if not supported:
            return None
        return as_array(np.asarray(x) if isinstance(x, np.generic) else x)
    key = (kind, _distinct_key(x), _own() or _process.settings)
    found = _numbers.get(key)
    if found is None:
        try:
            found = as_array(x)
        except OverflowError:  # the function itself raises it again
            return None
        remember(_numbers, key, found)  # type: ignore[arg-type]
    return found  # type: ignore[return-value]


def _operand_like(function: str, a: ConcreteArray, value: Any) -> ConcreteArray | None:
    """Convert an operand that is no array to one that combines with `a`; None if it is no operand."""
    kind = type(value)
    if kind not in _SCALARS:
        return _operand(value)
    key = (a.aval, kind, _distinct_key(value), _own() or _process.settings)
    found = _numbers.get(key)
    if found is None:
        try:
            found = _base.array_like(function, a, value)
        except _REFUSED:  # the function itself raises it again
            return None
        remember(_numbers, key, found)  # type: ignore[arg-type]
    return found
