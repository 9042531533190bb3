"""Traces and tracers: how operations find the transformation that is at work.

There is one current trace. `bind` hands every operation to it; it knows the trace beneath (`parent`),
where it sends what it does not handle. Nested transformations are therefore ordinary Python nesting
and need no level numbers. The trace at the bottom evaluates.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sagax._src import config
from sagax._src.core import meshes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics import errors, events
from sagax._src.lazy_import import lazy_imports
from sagax._src.source_stacks import written

if TYPE_CHECKING or lazy_imports():
    from sagax._src.diagnostics import leaks


class NamedAxis(NamedTuple):
    """A named axis that a trace introduces.

    `manual` says that it is an axis of a mesh, along which devices work apart; `checked` that types
    tell which values differ along it.
    """

    name: Any
    size: Any
    manual: bool = False
    checked: bool = False


class Trace:
    """An interpreter of operations. `process` handles one; results are values of this trace."""

    __slots__ = ("__weakref__", "alive", "axis", "debug_info", "parent")

    records = False  # whether all it does with an operation is to record it
    parent: Any  # the trace beneath; None at the bottom
    debug_info: Any  # what a user calls the traced function and its arguments; None: nobody's

    def __init__(self, parent: Trace | None) -> None:
        self.parent = parent
        self.alive = True
        self.debug_info = None
        # the named axes that this trace introduces, or None
        self.axis: tuple[NamedAxis, ...] | None = None

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        raise NotImplementedError(type(self).__name__)

    def encloses(self, other: Trace | None) -> bool:
        """Whether this trace is `other` or lies beneath it."""
        while other is not None:
            if other is self:
                return True
            other = other.parent
        return False


class EvalTrace(Trace):
    """The bottom: evaluates at once. How, is plugged in when sagax is assembled."""

    __slots__ = ("evaluate",)

    def __init__(self) -> None:
        super().__init__(None)
        self.evaluate = evaluate_by_reference

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        return self.evaluate(primitive, args, params)


def evaluate_by_reference(primitive: Any, args: tuple, params: dict) -> Any:
    """Evaluate with the NumPy reference rule; what core does before a runtime is plugged in."""
    for a in args:
        if isinstance(a, Tracer):
            raise leaked(a)
    avals = tuple([aval_of(a) for a in args])
    out = primitive.abstract_eval(avals, params)
    values = [np.asarray(a, dtype=v.dtype) for a, v in zip(args, avals, strict=True)]
    with np.errstate(all="ignore"):
        result = primitive.rule("reference")(*values, **params)
    if primitive.multiple_results:
        return [np.asarray(r, dtype=v.dtype) for r, v in zip(result, out, strict=True)]
    return np.asarray(result, dtype=out.dtype)


evaluation = EvalTrace()


class _AtWork:
    """The trace at work in a thread, from where the first one is entered until it is left again."""

    __slots__ = ("here", "thread", "trace")

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.thread = threading.get_ident()
        self.here = written.here


# A context variable, not a `threading.local`: each operation looks whether anything is traced, and this
# takes a tenth of the time.
_at_work: ContextVar[_AtWork | None] = ContextVar("sagax trace", default=None)
_at_work.set(None)  # a value that was set is found faster than a default
# None where nothing is traced, so that `state.trace` is `evaluation`; for the hottest callers
at_work = _at_work.get


def _own_at_work() -> _AtWork | None:
    """What is at work in this thread; a copy of the context may have come from another one."""
    found = _at_work.get()
    return found if found is not None and found.thread == threading.get_ident() else None


class _State:
    """What is at work in this thread."""

    __slots__ = ()

    @property
    def trace(self) -> Trace:
        found = _own_at_work()
        return evaluation if found is None else found.trace

    @trace.setter
    def trace(self, trace: Trace) -> None:
        found = _own_at_work()
        if found is not None:
            found.trace = trace
        elif trace is not evaluation:
            _at_work.set(_AtWork(trace))


state = _State()


class current:
    """Context manager: `trace` is the current trace inside."""

    __slots__ = ("before", "trace")

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def __enter__(self) -> Any:
        found = _own_at_work()
        if found is None:
            self.before = None
            _at_work.set(_AtWork(self.trace))
        else:
            self.before = found.trace
            found.trace = self.trace
        return self.trace

    def __exit__(self, *_: Any) -> None:
        if self.before is None:
            # For copies of the context too, which tasks and callbacks keep that the traced function started.
            state.trace = evaluation
            _at_work.set(None)
        else:
            state.trace = self.before


class entered(current):
    """Context manager: a new trace is current inside and dead afterwards.

    A tracer of it that is used later has leaked; the dead trace is how that is noticed.
    """

    __slots__ = ()

    def __exit__(self, *_: Any) -> None:
        super().__exit__()
        self.trace.alive = False


def axis_environment() -> tuple[NamedAxis, ...]:
    """The named axes in scope, innermost first."""
    found: list[NamedAxis] = []
    trace: Trace | None = state.trace
    while trace is not None:
        if trace.axis is not None:
            found.extend(trace.axis)
        trace = trace.parent
    return tuple(found)


def named_axis(name: Any) -> NamedAxis:
    """The named axis; NameError when it is not in scope."""
    trace: Trace | None = state.trace
    while trace is not None:
        if trace.axis is not None:
            for axis in trace.axis:
                if axis.name == name:
                    return axis
        trace = trace.parent
    known = [axis.name for axis in axis_environment()]
    raise UnboundAxisError(name, known, meshes.get_abstract_mesh())


def axis_size(name: Any) -> Any:
    """The size of the named axis; NameError when it is not in scope."""
    return named_axis(name).size


class AxisTrace(Trace):
    """Introduces named axes, and otherwise leaves all to the trace beneath."""

    __slots__ = ()

    def __init__(self, parent: Trace, axes: Sequence[NamedAxis]) -> None:
        super().__init__(parent)
        self.axis = tuple(axes)

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        before = state.trace
        state.trace = self.parent
        try:
            return primitive.bind(*args, **params)
        finally:
            state.trace = before


class UnboundAxisError(errors.SagaxError, NameError):
    """A named axis that no enclosing transformation introduces."""

    __module__ = "sagax.errors"
    code = "SX0121"

    def __init__(self, name: Any, known: Sequence[Any] = (), mesh: Any = None) -> None:
        among = (
            f"the axes in scope are {', '.join(map(repr, known))}"
            if known
            else "no named axis is in scope"
        )
        fix = (
            f"call it under vmap(..., axis_name={name!r}), or inside shard_map over a mesh with an "
            f"axis {name!r}"
        )
        if mesh is not None and name in mesh.axis_names:
            among += f"; {name!r} is an axis of the mesh in force that no shard_map maps here"
            fix = (
                f"add {name!r} to the axis_names of shard_map"
                if mesh.manual_axes
                else "call it inside shard_map"
            )
        super().__init__(f"unbound axis name: {name}; {among}", fix=fix)


def leaked(tracer: Tracer) -> errors.UnexpectedTracerError:
    """The error for a tracer that is used where its trace is not at work."""
    return errors.UnexpectedTracerError.of(tracer)


def no_leaks(trace: Trace) -> None:
    """Raise if a tracer of `trace` outlives it, where that is asked for (`checking_leaks`).

    For whoever has run a function under `trace`, when nothing of that run is on the stack any more.
    """
    # a trace that is over is referred to by its tracers, the caller, this call and its question
    if config.current().check_tracer_leaks and sys.getrefcount(trace) > 3:
        found = leaks.leaked_tracers(trace)
        if found:
            raise errors.LeakedTraceError.of(found[0], len(found))


class Tracer(Array):
    """Stands for a value while a function is being transformed."""

    __slots__ = ("__weakref__", "_trace", "aval")

    _trace: Trace

    @property
    def inner(self) -> Any:
        """The value this one wraps, for tracers that wrap one; None otherwise."""
        return None

    def concrete(self) -> Any:
        """The concrete value, where the transformation knows it (derivatives of plain code); else None."""
        inner = self.inner
        if inner is None:
            return None
        return inner.concrete() if isinstance(inner, Tracer) else inner

    def _known(self, error: type, *context: Any) -> Any:
        value = self.concrete()
        if value is None:
            raise error(self, *context)
        if events.tracer_concretized.function is not None:
            events.tracer_concretized.function(self, error)
        return value

    def __bool__(self) -> bool:
        return bool(self._known(errors.TracerBoolConversionError))

    def __int__(self) -> int:
        return int(
            self._known(
                errors.ConcretizationTypeError, "The problem arose with the `int` function."
            )
        )

    # As numbers, values that are differentiated would lose their derivatives: these refuse even
    # where the value is known.
    def __float__(self) -> float:
        raise self._no_number("the `float` function")

    def __complex__(self) -> complex:
        raise self._no_number("the `complex` function")

    def _no_number(self, what: str) -> errors.SagaxError:
        error = errors.ConcretizationTypeError(self, f"The problem arose with {what}.")
        if self.concrete() is None:
            return error.attach(
                fix="use functions of jax.numpy in place of those of math; if the value is known when "
                "the function is called, mark the argument as static (static_argnames in jit)"
            )
        return error.attach(
            fix="compute with sagax.numpy, which keeps the derivative; a number that needs none, for "
            "a report say, can be had of sagax.lax.stop_gradient(x)"
        )

    def __index__(self) -> int:
        return self._known(errors.TracerIntegerConversionError).__index__()

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        if events.tracer_to_numpy.function is not None:
            return events.tracer_to_numpy.function(self, *args)
        raise errors.TracerArrayConversionError(self)

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any:
        raise errors.ConcretizationTypeError(
            self, "A traced value has no memory to share through DLPack."
        )

    def item(self, *args: Any) -> Any:
        return self._known(
            errors.ConcretizationTypeError, "The problem arose with `.item()`."
        ).item(*args)

    def tolist(self) -> Any:
        raise self._no_number("`.tolist()`")

    def tobytes(self, order: str = "C") -> bytes:
        raise self._no_number("`.tobytes()`")

    def block_until_ready(self) -> Tracer:
        return self

    def copy_to_host_async(self) -> None:
        return None

    def __hash__(self) -> int:
        raise errors.ArgumentError(
            "a traced value cannot be hashed: its content is not known yet",
            function="hash",
            got=self,
            fix="do not use it in a set, as a dict key or as a static argument; compare shapes or names instead",
        )

    def __len__(self) -> int:
        return len(self.aval)

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self

    def __copy__(self) -> Tracer:
        return self

    def __reduce__(self) -> Any:
        raise errors.ConcretizationTypeError(self, "A traced value cannot be pickled.")

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        raise errors.ArgumentError(
            "a traced value has no digits to format yet",
            function="format",
            got=self,
            expected="no format specification",
            fix="print it when the compiled program runs: sagax.debug.print('{x:"
            + spec
            + "}', x=x)",
        )

    def _parts(self) -> str:
        return self.aval.str_short(short_dtypes=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._parts()})"


def is_concrete(value: Any) -> bool:
    """Test whether `value` is an array that holds data, and no tracer."""
    return isinstance(value, Array) and not isinstance(value, Tracer)
