"""Register batching rules of primitives.

A rule `(operands, dims, **params)` returns the result and its batch dimension. The dimension of an
operand that is not batched is None.

>>> from sagax.extend.core.primitives import sin_p
>>> from sagax.interpreters import batching
>>> sin_p in batching.primitive_batchers
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sagax.numpy as snp
from sagax._src.api import vmappables
from sagax._src.core.primitive import Primitive
from sagax._src.transforms.batch import BatchTracer
from sagax.interpreters._rules import Rules

__all__ = [
    "BatchTracer",
    "axis_primitive_batchers",
    "bdim_at_front",
    "broadcast",
    "defbroadcasting",
    "defreducer",
    "defvectorized",
    "fancy_primitive_batchers",
    "moveaxis",
    "not_mapped",
    "primitive_batchers",
    "register_vmappable",
    "unregister_vmappable",
]

not_mapped = None


def _without_axis(primitive: Primitive, rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda axis, args, dims, **params: rule(args, dims, **params)


def _as_without_axis(rule: Callable[..., Any]) -> Callable[..., Any]:
    def presented(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> Any:
        size = next(x.shape[d] for x, d in zip(args, dims) if d is not None)
        return rule(_Axis(size), args, dims, **params)

    return presented


class _Axis:
    """The size and name of a batch axis."""

    def __init__(self, size: int, name: Any = None) -> None:
        self.size, self.name, self.spmd_name = size, name, None


primitive_batchers = Rules("batch_rule", _without_axis, _as_without_axis)
# The first argument of these rules is the batch axis, with `.size` and `.name`.
fancy_primitive_batchers = Rules("batch_rule", lambda primitive, rule: rule, lambda rule: rule)
# Their older form is `(axis size, axis name, trace type, operands, dims, **params)`; the type is None.
axis_primitive_batchers = Rules(
    "batch_rule",
    lambda primitive, rule: (
        lambda axis, args, dims, **params: rule(axis.size, axis.name, None, args, dims, **params)
    ),
    lambda rule: (
        lambda size, name, trace, args, dims, **params: rule(
            _Axis(size, name), args, dims, **params
        )
    ),
)


def moveaxis(x: Any, src: int | None, dst: int) -> Any:
    """Move the batch dimension of `x`; return `x` unchanged if it has none.

    >>> batching.moveaxis(np.zeros((2, 3)), 0, 1).shape
    (3, 2)
    """
    return x if src is None or src == dst else snp.moveaxis(x, src, dst)


def broadcast(x: Any, size: int, axis: int) -> Any:
    """Broadcast `x` along a new dimension `axis` of `size`.

    >>> batching.broadcast(np.zeros(2), 3, 0).shape
    (3, 2)
    """
    shape = list(snp.shape(x))
    x = snp.expand_dims(x, axis)
    shape.insert(axis, size)
    return snp.broadcast_to(x, shape)


def bdim_at_front(x: Any, bdim: int | None, size: int) -> Any:
    """Move the batch dimension of `x` to the front; broadcast `x` if it has none.

    >>> batching.bdim_at_front(np.zeros(2), None, 3).shape
    (3, 2)
    """
    return broadcast(x, size, 0) if bdim is None else moveaxis(x, bdim, 0)


def defvectorized(primitive: Primitive) -> None:
    """Register the batching rule of a unary elementwise primitive.

    >>> from sagax.extend.core import Primitive
    >>> batching.defvectorized(Primitive("my_neg"))
    """
    primitive_batchers[primitive] = lambda args, dims, **params: (
        primitive.bind(*args, **params),
        dims[0],
    )


def defbroadcasting(primitive: Primitive) -> None:
    """Register the batching rule of an elementwise primitive with operands of equal shape.

    >>> from sagax.extend.core import Primitive
    >>> batching.defbroadcasting(Primitive("my_add"))
    """

    def rule(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple:
        size = next(x.shape[d] for x, d in zip(args, dims) if d is not None)
        return primitive.bind(*[bdim_at_front(x, d, size) for x, d in zip(args, dims)], **params), 0

    primitive_batchers[primitive] = rule


def defreducer(primitive: Primitive, ident: Any = None) -> None:
    """Register the batching rule of a unary primitive that reduces along its parameter `axes`.

    >>> from sagax.extend.core import Primitive
    >>> batching.defreducer(Primitive("my_sum"))
    """

    def rule(args: Sequence[Any], dims: Sequence[Any], *, axes: Any, **params: Any) -> tuple:
        (x,), (dim,) = args, dims
        moved = tuple(a + (a >= dim) for a in axes)
        return primitive.bind(x, axes=moved, **params), dim - sum(a < dim for a in moved)

    primitive_batchers[primitive] = rule


def register_vmappable(
    data_type: type,
    spec_type: type,
    axis_size_type: type,
    to_elt: Callable,
    from_elt: Callable,
    make_iota: Callable | None,
) -> None:
    """Let `vmap` map values of `data_type` by functions of a library, and not leaf by leaf.

    Args:
      spec_type: the type of entries of `in_axes` and `out_axes` for such values, such as int.
      axis_size_type, make_iota: accepted; sizes are ints.
      to_elt: `to_elt(cont, index, x, spec)` returns one example of `x`; `cont(part, axis)` is the example of a part
        of it, and `index()` that of the axis.
      from_elt: `from_elt(cont, axis_size, elt, spec)` returns the batch of an example; `cont(axis_size, part, axis)`
        is the batch of a part.

    >>> class Pair:
    ...     def __init__(self, shared, own):
    ...         self.shared, self.own = shared, own
    >>> batching.register_vmappable(
    ...     Pair, int, int,
    ...     lambda cont, index, x, spec: Pair(x.shared, cont(x.own, spec)),
    ...     lambda cont, size, x, spec: Pair(x.shared, cont(size, x.own, spec)),
    ...     None,
    ... )
    >>> doubled = sagax.vmap(lambda p: Pair(p.shared, p.own * p.shared))(Pair(2, snp.arange(3)))
    >>> doubled.shared, doubled.own
    (2, Array([0, 2, 4], dtype=int32))
    """
    handlers = vmappables.Handlers(spec_type, axis_size_type, to_elt, from_elt, make_iota)
    vmappables.register(data_type, handlers)


def unregister_vmappable(data_type: type) -> None:
    """Do nothing, as in jax: a type stays registered."""
