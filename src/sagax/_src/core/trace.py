"""Dispatch primitives to the current trace.

There is one current trace. `bind` hands every operation to it. It forwards what it does not handle to
its `parent`. Nested transformations are therefore ordinary Python nesting and need no level numbers.
The outermost trace evaluates.
"""

from __future__ import annotations

import functools
import math
import sys
import threading
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sagax._src import config
from sagax._src.core import high_types, meshes
from sagax._src.core.references import Ref
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics import errors, events
from sagax._src.languages.choice import worded
from sagax._src.lazy_import import lazy_imports
from sagax._src.source_stacks import written
from sagax._src.uninterrupted import uninterrupted

if TYPE_CHECKING or lazy_imports():
    from sagax._src.diagnostics import leaks


class NamedAxis(NamedTuple):
    """A named axis that a trace introduces.

    `manual` marks an axis of a mesh inside of `shard_map`; `checked` means that types record along which
    axes values vary.
    """

    name: Any
    size: Any
    manual: bool = False
    checked: bool = False


class Trace:
    """Interpret operations. `process` handles one; results are values of this trace."""

    __slots__ = ("__weakref__", "alive", "axis", "debug_info", "parent")

    records = False  # whether it only records operations
    discharges = False  # whether it replaces references by values
    evaluates_high = False  # whether it replaces values of libraries' types by arrays
    # of values that exist within the trace: an adjective, and that of the transformed function
    described_as: tuple[str, str] | None = None
    parent: Any  # the outer trace; None at the bottom
    debug_info: (
        Any  # names of the traced function and its arguments; None if it has no user function
    )

    def __init__(self, parent: Trace | None) -> None:
        self.parent = parent
        self.alive = True
        self.debug_info = None
        # the named axes that this trace introduces, or None
        self.axis: tuple[NamedAxis, ...] | None = None

    @property
    def main(self) -> Trace:
        """The identity of the trace, by which libraries recognize its tracers: the trace itself."""
        return self

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        raise NotImplementedError(type(self).__name__)

    def encloses(self, other: Trace | None) -> bool:
        """Return whether this trace is `other` or an outer trace of it."""
        while other is not None:
            if other is self:
                return True
            other = other.parent
        return False


class EvalTrace(Trace):
    """Evaluate operations eagerly, by the evaluator that the runtime installs."""

    __slots__ = ("evaluate",)

    evaluates_high = True

    def __init__(self) -> None:
        super().__init__(None)
        self.evaluate = evaluate_by_reference

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        return self.evaluate(primitive, args, params)

    def __reduce__(self) -> str:
        return "evaluation"  # the one of the process: functions compare by identity


def evaluate_by_reference(primitive: Any, args: tuple, params: dict) -> Any:
    """Evaluate with the NumPy reference rule; the default before the runtime installs another."""
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


class _CurrentTrace:
    """Hold the current trace of a thread, while any trace is entered."""

    __slots__ = ("here", "thread", "trace")

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.thread = threading.get_ident()
        self.here = written.here


# A context variable is ten times faster to read than a `threading.local`, and each operation reads it.
_current_trace: ContextVar[_CurrentTrace | None] = ContextVar("sagax trace", default=None)
_current_trace.set(None)  # reading a set value is faster than reading a default
# None means `evaluation`; for the hottest callers of `state.trace`
current_trace = _current_trace.get


def _own_current_trace() -> _CurrentTrace | None:
    """Return this thread's entry; a copied context may hold that of another thread."""
    found = _current_trace.get()
    return found if found is not None and found.thread == threading.get_ident() else None


class _State:
    """Access the current trace of this thread."""

    __slots__ = ()

    @property
    def trace(self) -> Trace:
        found = _own_current_trace()
        return evaluation if found is None else found.trace

    @trace.setter
    def trace(self, trace: Trace) -> None:
        found = _own_current_trace()
        if found is not None:
            found.trace = trace
        elif trace is not evaluation:
            _current_trace.set(_CurrentTrace(trace))


state = _State()


def begin_evaluation() -> None:
    """Leave tracing for the rest of this context: for the first line of what runs in a copy."""
    _current_trace.set(None)


class current:
    """Make `trace` the current trace in a context."""

    __slots__ = ("before", "entry", "outermost", "trace")

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def __enter__(self) -> Any:
        entry = _own_current_trace()
        self.outermost = entry is None
        if entry is None:
            entry = _CurrentTrace(evaluation)
            _current_trace.set(entry)
        self.entry, self.before = entry, entry.trace
        entry.trace = self.trace  # the last change: an interrupt comes before or behind it
        return self.trace

    @uninterrupted
    def __exit__(self, *_: Any) -> None:
        # Copied contexts, as of tasks and callbacks that the traced function started, see the change too.
        self.entry.trace = self.before
        if self.outermost:
            _current_trace.set(None)


class entered(current):
    """Make a new trace current in a context, and mark it dead at the end.

    The dead trace reveals leaked tracers, which are used afterwards.
    """

    __slots__ = ()

    @uninterrupted
    def __exit__(self, *_: Any) -> None:
        self.trace.alive = False
        self.entry.trace = self.before
        if self.outermost:
            _current_trace.set(None)


def axis_environment() -> tuple[NamedAxis, ...]:
    """Return the named axes in scope, innermost first."""
    found: list[NamedAxis] = []
    trace: Trace | None = state.trace
    while trace is not None:
        if trace.axis is not None:
            found.extend(trace.axis)
        trace = trace.parent
    return tuple(found)


def named_axis(name: Any) -> NamedAxis:
    """Return the named axis; NameError if it is not in scope."""
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
    """Return the size of the named axis; NameError if it is not in scope."""
    return named_axis(name).size


class AxisTrace(Trace):
    """Introduce named axes, and forward all operations to the outer trace."""

    __slots__ = ()

    def __init__(self, parent: Trace, axes: Sequence[NamedAxis]) -> None:
        super().__init__(parent)
        self.axis = tuple(axes)

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        entry: Any = current_trace()
        entry.trace = self.parent
        try:
            return primitive.bind(*args, **params)
        finally:
            entry.trace = self


class UnboundAxisError(errors.SagaxError, NameError, AssertionError):
    """No enclosing transformation introduces a named axis."""

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


def leaked(tracer: Any) -> errors.UnexpectedTracerError:
    """Return the error for a tracer that is used outside of its trace."""
    return errors.UnexpectedTracerError.of(tracer)


def no_leaks(trace: Trace) -> None:
    """Raise if a tracer of `trace` outlives it and `checking_leaks` is on.

    Called after the function ran under `trace`, when its frames have left the stack.
    """
    # a finished trace is referenced by its tracers, the caller, this call and getrefcount
    if config.current().check_tracer_leaks and sys.getrefcount(trace) > 3:
        found = leaks.leaked_tracers(trace)
        if found:
            raise errors.LeakedTraceError.of(found[0], len(found))


_NONE = object()


class Tracer(Array):
    """Represent a value while a function is transformed."""

    __slots__ = ("__weakref__", "_trace", "aval")

    _trace: Trace

    @property
    def inner(self) -> Any:
        """Return the wrapped value, for tracers that wrap one; None otherwise."""
        return None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # of a type of a library, which may define properties and methods of traced values
            if name != "aval" and self.aval.is_high:
                found = getattr(self.aval, name, _NONE)
                if isinstance(found, (high_types.aval_property, high_types.aval_method)):
                    return found.of(self)
                if found is not _NONE:
                    return found
            missing = f"{type(self).__name__!r} object has no attribute {name!r}"
            # a name of other libraries
            instead = getattr(Array.__dict__.get(name), "instead", None)
            if instead:
                text = f"{missing}; use {instead}"
                raise worded(AttributeError(text, name=name, obj=self))
            raise AttributeError(missing, name=name, obj=self)

    def concrete(self) -> Any:
        """Return the concrete value if the transformation knows it (derivatives of eager code), or None."""
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

    # Conversions to Python numbers would drop derivatives: refuse them even where the value is known.
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


@functools.cache
def _define_operators() -> None:
    """Let types of libraries define operators of traced values; arrays keep theirs, and pay only from now on."""
    for name in high_types.OPERATORS:
        setattr(Tracer, f"__{name}__", _operator(f"_{name}", getattr(Tracer, f"__{name}__", None)))


def _operator(method: str, of_arrays: Any) -> Any:
    def operator(self: Tracer, *args: Any) -> Any:
        if self.aval.is_high:
            defined = getattr(self.aval, method, None)
            if defined is not None:
                return defined(self, *args)
        if of_arrays is None:  # of trunc, floor and ceil, which then go by way of float
            return getattr(math, method.removeprefix("_"))(float(self))
        return of_arrays(self, *args)

    operator.__wrapped__ = of_arrays  # type: ignore[attr-defined]
    operator.__name__ = operator.__qualname__ = f"_{method}__"
    return operator


high_types.define_operators = _define_operators


def is_concrete(value: Any) -> bool:
    """Return whether `value` is an array with data, not a tracer."""
    return isinstance(value, Array) and not isinstance(value, Tracer)


def belongs_to_trace(x: Any) -> bool:
    """Return whether `x` is a tracer, or a reference of a transformed function: it ends with that."""
    return isinstance(x, Tracer) or (type(x) is Ref and x._trace is not None)
