"""Transform calls of external functions: batch them by `vmap_method`, and refuse derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.argument_checks import checks
from sagax._src.core.avals import intern_aval
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.loops import one_by_one
from sagax._src.primitives.structural import broadcast
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.transforms.batch import move_batch_dims

METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all",
           "legacy_vectorized")  # fmt: skip


def check_method(api_name: str, method: Any) -> None:
    """Raise ArgumentValueError unless `method` is None or a method."""
    expected = f"None or one of {', '.join(METHODS)}"
    checks.one_of(api_name, "vmap_method", method, (None, *METHODS), expected)


def batch_call(
    primitive: Primitive,
    size: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    params: dict[str, Any],
    *,
    unrolled: bool = False,
    batched_params: Callable[[list[bool]], dict[str, Any]] = lambda batched: {},
    **facts: Any,
) -> tuple[list, list]:
    """Batch a call by its parameter `vmap_method`.

    `batched_params` returns the parameters of one call for all examples that differ from `params`, except
    the result types. `facts` describe the call in the error for the method None.
    """
    method = params["vmap_method"]
    if method is None:
        raise UnsupportedError(
            f"vmap is only supported for the {primitive.name} primitive when vmap_method is one of "
            f"{', '.join(map(repr, METHODS))}. Got vmap_method=None",
            fix="pass vmap_method='sequential', or 'broadcast_all' if the function takes a leading dimension more",
            **facts,
        )
    args = move_batch_dims(args, in_dims)
    if method in ("sequential", "sequential_unrolled"):
        unrolled = unrolled or method == "sequential_unrolled"
        outs = one_by_one(
            lambda *xs: primitive.bind(*xs, **params), size, args, in_dims, unrolled=unrolled
        )
    else:
        operands, batched = _batch_operands(size, args, in_dims, method)
        avals = [
            intern_aval((size, *a.shape), a.dtype, False, None) for a in params["result_avals"]
        ]
        changed = {"result_avals": tuple(avals), **batched_params(batched)}
        outs = primitive.bind(*operands, **{**params, **changed})
    return outs, [0] * len(outs)


def _batch_operands(
    size: Any, args: Sequence[Any], in_dims: Sequence[Any], method: str
) -> tuple[list[Any], list[bool]]:
    """Return the operands for one call of all examples, and whether each has the leading dimension."""
    sizes = (size if method == "broadcast_all" else 1,)
    batched = [d is not None or method != "legacy_vectorized" for d in in_dims]
    operands = [
        broadcast(x, sizes) if d is None and b else x
        for x, d, b in zip(args, in_dims, batched, strict=True)
    ]
    return operands, batched


def bind_without_jvp(
    primitive: Primitive,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    params: dict[str, Any],
    message: str,
    **facts: Any,
) -> tuple[list, list]:
    """Bind a primitive without a derivative; raise ArgumentValueError for tangents that are not zero."""
    if not all(map(is_zero, tangents)):
        raise ArgumentValueError(message, **facts)
    outs = primitive.bind(*primals, **params)
    return outs, [Zero.like(aval_of(o)) for o in outs]
