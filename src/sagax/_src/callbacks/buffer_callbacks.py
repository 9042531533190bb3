"""Implement `buffer_callback`: Python functions that write results into buffers of the executable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.argument_checks.functions import check_function
from sagax._src.callbacks import vmap_methods
from sagax._src.callbacks.ffi_call import check_aliases
from sagax._src.core.avals import intern_aval
from sagax._src.core.effects import Effect, no_effects
from sagax._src.core.families import OPAQUE
from sagax._src.core.primitive import Primitive
from sagax._src.core.value import aval_of
from sagax._src.higher_order.trace_bodies import operand_leaves
from sagax._src.xla.callbacks import OnBuffers

_NAME = "buffer_callback"
_EFFECTS = frozenset({Effect(_NAME)})

buffer_callback_p = Primitive(_NAME, family=OPAQUE, multiple_results=True, is_higher_order=True)


@buffer_callback_p.abstract
def _(*avals: Any, result_avals: tuple, **_: Any) -> list:
    return list(result_avals)


@buffer_callback_p.effect
def _(*, has_side_effect: bool, **_: Any) -> frozenset:
    return _EFFECTS if has_side_effect else no_effects


@buffer_callback_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    return vmap_methods.bind_without_jvp(
        buffer_callback_p,
        primals,
        tangents,
        params,
        "Buffer callbacks do not support JVP",
        function=_NAME,
        fix="say its derivative with custom_jvp or custom_vjp",
    )


@buffer_callback_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    return vmap_methods.batch_call(
        buffer_callback_p,
        axis.size,
        args,
        in_dims,
        params,
        function=_NAME,
        argument="vmap_method",
        got=None,
    )


@buffer_callback_p.lower
def _(
    b: Any,
    *args: Any,
    callback: Callable[..., None],
    in_tree: Any,
    out_tree: Any,
    has_side_effect: bool,
    aliases: tuple,
    command_buffer_compatible: bool,
    **_: Any,
) -> list:
    def call(ctx: Any, outs: Any, *operands: Any) -> None:
        given, named = in_tree.unflatten(operands)
        callback(ctx, out_tree.unflatten(outs), *given, **named)

    several = len(b.outs) > 1
    found = ", ".join(
        f"#stablehlo.output_operand_alias<output_tuple_indices = {[r] if several else []}, "
        f"operand_index = {i}, operand_tuple_indices = []>"
        for i, r in aliases
    )
    platform = "cpu" if b.module.platform == "cpu" else "gpu"
    suffix = "_cmd_buffer" if command_buffer_compatible and platform == "gpu" else ""
    return b.python_call(
        f"xla_buffer_python_{platform}_callback{suffix}",
        OnBuffers(call, len(b.outs)),
        args,
        b.outs,
        has_side_effect="true" if has_side_effect else "false",
        output_operand_aliases=f"[{found}]",
    )


def buffer_callback(
    callback: Callable[..., None],
    result_shape_dtypes: Any,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    command_buffer_compatible: bool = False,
) -> Callable[..., Any]:
    """Return a function that calls a Python function, which writes its results into buffers.

    Args:
      callback: a function `callback(ctx, out, *args, **kwargs)`. `out` and the arguments are pytrees of buffers:
        `numpy.asarray` of one shares its memory on the CPU, and `__dlpack__` elsewhere. It returns None.
      result_shape_dtypes: shapes and dtypes of the results: a pytree of `ShapeDtypeStruct`s.
      has_side_effect: keep the call even if its results are unused.
      vmap_method: the rule for `vmap`, as in `pure_callback`.
      input_output_aliases: maps the index of an operand to that of the result that has its memory.
      command_buffer_compatible: on a GPU, the call may be recorded and repeated.

    >>> from sagax.experimental.buffer_callback import buffer_callback
    >>> def double(ctx, out, x):
    ...     np.asarray(out)[...] = 2 * np.asarray(x)
    >>> sagax.jit(buffer_callback(double, sagax.ShapeDtypeStruct((2,), "float32")))(snp.ones(2))
    Array([2., 2.], dtype=float32)
    """
    check_function(callback, f"{_NAME}: callback should be a callable.", _NAME, "callback")
    vmap_methods.check_method(_NAME, vmap_method)
    structs, out_tree = trees.flatten(result_shape_dtypes)
    avals = tuple(intern_aval(tuple(s.shape), np.dtype(s.dtype), False, None) for s in structs)

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = operand_leaves(_NAME, "args", (args, kwargs))
        pairs = tuple(sorted((input_output_aliases or {}).items()))
        check_aliases(_NAME, input_output_aliases, [aval_of(x) for x in leaves], avals)
        outs = buffer_callback_p.bind(
            *leaves,
            callback=callback,
            result_avals=avals,
            in_tree=in_tree,
            out_tree=out_tree,
            has_side_effect=bool(has_side_effect),
            vmap_method=vmap_method,
            aliases=pairs,
            command_buffer_compatible=bool(command_buffer_compatible),
        )
        return out_tree.unflatten(outs)

    return call
