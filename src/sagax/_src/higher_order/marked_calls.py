"""Mark operations with attributes that XLA reads: those of a function, or of a block of code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from sagax._src import config, trees
from sagax._src.argument_checks.functions import check_function
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo
from sagax._src.core.staging import hoist_constants, stage
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.diagnostics.function_wrappers import wraps
from sagax._src.higher_order.call import bind_call, call_primitive
from sagax._src.higher_order.trace_bodies import operand_leaves
from sagax._src.primitives.compiler_hints import mark_value
from sagax._src.source_stacks import joined_scopes, metadata_scope, written
from sagax._src.uninterrupted import uninterrupted

Marks = tuple[tuple[str, str], ...]


def _marks(function: str, given: Mapping[str, Any]) -> Marks:
    """Return attributes as pairs of texts, sorted by name."""
    for name, value in given.items():
        if not isinstance(value, (str, bool, int, float)):
            raise ArgumentError.about(function, name, value, "a string, a bool or a number")
    return tuple(
        (k, str(v).lower() if isinstance(v, bool) else str(v)) for k, v in sorted(given.items())
    )


def _of_derivatives(params: dict) -> dict:
    found = params["ad_metadata"]
    return params if found == "same" else {**params, "xla_metadata": found, "ad_metadata": "same"}


xla_metadata_call_p = call_primitive("xla_metadata_call", _of_derivatives)


@xla_metadata_call_p.show
def _(*, jaxpr: ClosedJaxpr, xla_metadata: Marks, ad_metadata: Any) -> dict:
    return {"ad_metadata": ad_metadata, "jaxpr": jaxpr, "xla_metadata": xla_metadata}


@xla_metadata_call_p.lower
def _(b: Any, *args: Any, jaxpr: ClosedJaxpr, xla_metadata: Marks, ad_metadata: Any) -> list:
    with b.marked(xla_metadata):
        return b.call(jaxpr.jaxpr, args, "xla_metadata_call")


def _marked(function: str, fun: Callable[..., Any], marks: Marks, ad_metadata: Any) -> Any:
    check_function(fun, f"{function}: fun should be a callable.", function, "f")

    @wraps(fun)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = operand_leaves(function, "args", (args, kwargs))
        out_tree: Any = None

        def flat(*values: Any) -> list:
            nonlocal out_tree
            given, named = tree.unflatten(values)
            found, out_tree = trees.flatten_argument(function, "result", fun(*given, **named))
            return found

        jaxpr, consts = stage(flat, [aval_of(x) for x in leaves], DebugInfo(function_name(fun)))
        closed = ClosedJaxpr(hoist_constants(jaxpr), ())
        params = {"xla_metadata": marks, "ad_metadata": ad_metadata}
        outs = bind_call(xla_metadata_call_p, closed, [*consts, *leaves], **params)
        return out_tree.unflatten(outs)

    return wrapped


def xla_metadata_call(f: Callable[..., Any] | None = None, /, **meta: Any) -> Any:
    """Wrap `f` into a call with attributes for XLA, which go over to the operations inside.

    Derivatives of the function have the same attributes. Use it as a function or as a decorator.

    Args:
      f: a function of pytrees of arrays.
      **meta: the attributes: strings, bools and numbers.

    Raises ArgumentError for an attribute of another type.

    >>> from sagax.experimental.xla_metadata import xla_metadata_call
    >>> f = xla_metadata_call(lambda x: x * 2, group="a")
    >>> 'group = "a"' in sagax.jit(f).lower(1.0).as_text()
    True
    """
    marks = _marks("xla_metadata_call", meta)
    if f is None:
        return lambda fun: _marked("xla_metadata_call", fun, marks, "same")
    return _marked("xla_metadata_call", f, marks, "same")


def xla_metadata_call2(
    f: Callable[..., Any] | None = None,
    /,
    metadata: Mapping[str, Any] | None = None,
    *,
    ad_metadata: Any = "same",
) -> Any:
    """Wrap `f` as `xla_metadata_call` does, with attributes of their own for its derivatives.

    Args:
      f: a function of pytrees of arrays; or the dict `metadata`, to get a decorator.
      metadata: the attributes of the call.
      ad_metadata: those of tangents that are computed apart, and of cotangents: a dict, "same", or "drop".

    >>> from sagax.experimental.xla_metadata import xla_metadata_call2
    >>> f = xla_metadata_call2({"group": "a"}, ad_metadata="drop")(lambda x: x * x)
    >>> 'group = "a"' in sagax.jit(sagax.grad(f)).lower(1.0).as_text()
    False
    """
    name = "xla_metadata_call2"
    if f is not None and not callable(f):
        f, metadata = None, f
    if not (ad_metadata in ("same", "drop") or isinstance(ad_metadata, Mapping)):
        raise ArgumentValueError(
            function=name,
            argument="ad_metadata",
            got=ad_metadata,
            expected="'same', 'drop' or a dict",
        )
    marks = _marks(name, metadata or {})
    derived = "same"
    if ad_metadata != "same":
        derived = () if ad_metadata == "drop" else _marks(name, ad_metadata)  # type: ignore[assignment]
    if f is None:
        return lambda fun: _marked(name, fun, marks, derived)
    return _marked(name, f, marks, derived)


class MarkedBlock:
    """Mark the operations of a block, or those of a function that it decorates."""

    __slots__ = ("_before", "_marks")

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._before: list[Any] = []

    def __enter__(self) -> None:
        here = written.here
        own = metadata_scope(self._marks)
        setting = config.context(
            xla_metadata=joined_scopes(config.thread.settings.xla_metadata, own)
        )
        scope = joined_scopes(here.scope, own)
        self._before.append((setting, here.scope))
        try:
            setting.__enter__()
        except BaseException:  # no exit follows
            self._before.pop()
            raise
        here.scope = scope

    @uninterrupted
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        setting, written.here.scope = self._before[-1]
        try:
            setting.__exit__(kind, error, traceback)
        finally:
            self._before.pop()

    def __call__(self, fun: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(fun)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with MarkedBlock(self._marks):
                return fun(*args, **kwargs)

        return wrapped


def set_xla_metadata(x: Any = None, **kwargs: Any) -> Any:
    """Mark operations with attributes that XLA reads.

    Without `x`: a context manager, and a decorator, that marks all operations inside, and their derivatives.
    With `x`, a pytree of arrays: mark the operations that computed these, and return them.

    >>> from sagax.experimental.xla_metadata import set_xla_metadata
    >>> def f(x):
    ...     with set_xla_metadata(group=1):
    ...         return x * 2
    >>> 'group = "1"' in sagax.jit(f).lower(1.0).as_text()
    True
    """
    marks = _marks("set_xla_metadata", kwargs)
    return MarkedBlock(marks) if x is None else trees.map(lambda v: mark_value(v, marks), x)
