"""Define types of values, and operations on them, that jaxprs hold as one value and one equation.

A type (`HiType`) says which arrays its values stand for, and what their tangents and batches are. An operation
(`HiPrim`) has its rules as methods. docs/hijax.md defines quantized arrays.

>>> from sagax.experimental.hijax import HiPrim
>>> class Square(HiPrim):
...     def __init__(self, x):
...         self.in_avals, self.out_aval, self.params = (x,), x, {}
...         super().__init__()
...     def expand(self, x):
...         return x * x
...     def vjp_fwd(self, nonzero, x):
...         return self(x), x
...     def vjp_bwd_retval(self, x, g):
...         return (2 * x * g,)
>>> sagax.grad(lambda x: Square(sagax.typeof(x))(x))(3.0)
Array(6., dtype=float32, weak_type=True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src import trees
from sagax._src.api.vmap import vmap
from sagax._src.core.avals import ShapedArray
from sagax._src.core.high_types import HiPspec, HiType, MappingSpec, aval_method, aval_property
from sagax._src.core.references import AbstractRef
from sagax._src.core.tangents import Zero, is_linear
from sagax._src.higher_order.accumulators import GradAccum, NullAccum, RefAccum, ValAccum
from sagax._src.higher_order.high_primitives import (
    HiPrim,
    jvp_from_lin,
    linearize_from_jvp,
    register_hitype,
    vjp_from_jvp,
    vjp_from_lin,
)
from sagax._src.primitives.structural import instantiate as instantiate_zeros
from sagax._src.transforms.batch import mapped, move_batch_dim, unmapped

__all__ = [
    "AbstractRef",
    "AbstractValue",
    "GradAccum",
    "HiPrim",
    "HiPspec",
    "HiType",
    "MappingSpec",
    "NullAccum",
    "RefAccum",
    "ShapedArray",
    "VJPHiPrimitive",
    "ValAccum",
    "Zero",
    "aval_method",
    "aval_property",
    "bdims_at_front",
    "hijax_method",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp_from_lin",
    "linearize_from_jvp",
    "register_hitype",
    "unmap_avals",
    "vjp_from_jvp",
    "vjp_from_lin",
    "vmap_rule",
]

AbstractValue = HiType
VJPHiPrimitive = HiPrim  # its name in older jax
hijax_method = aval_method
is_undefined_primal = is_linear


def _is_none(x: Any) -> bool:
    return x is None


def unmap_avals(axis_data: Any, avals: Any, dims: Any) -> Any:
    """Return the types of batches, for types of examples and how these are mapped: pytrees.

    >>> from sagax._src.transforms.batch import BatchAxis
    >>> hijax.unmap_avals(BatchAxis(3), (hijax.ShapedArray((2,), "float32"),), (0,))
    (ShapedArray(float32[3,2]),)
    """
    leaves, tree = trees.flatten(avals)
    spread = trees.broadcast_prefix(dims, avals, is_leaf=_is_none)
    pairs = zip(leaves, spread, strict=True)
    return tree.unflatten([a if d is None else mapped(a, axis_data.size, d) for a, d in pairs])


def bdims_at_front(axis_data: Any, args: Any, dims: Any) -> Any:
    """Move the batch dimensions of arrays to the front; broadcast those that are not mapped.

    >>> from sagax._src.transforms.batch import BatchAxis
    >>> found = hijax.bdims_at_front(BatchAxis(3), (np.ones((2, 3)), np.ones(2)), (1, None))
    >>> [x.shape for x in found]
    [(3, 2), (3, 2)]
    """
    leaves, tree = trees.flatten(args)
    spread = trees.broadcast_prefix(dims, args, is_leaf=_is_none)
    pairs = zip(leaves, spread, strict=True)
    return tree.unflatten([move_batch_dim(x, d, 0, axis_data) for x, d in pairs])


def vmap_rule(
    axis_data: Any, f: Callable[..., Any], in_axes: Any, out_axes: Any, *, sum_match: bool = False
) -> Callable[..., Any]:
    """Return `f` mapped along the axis of a `batch` rule. Symbolic zeros pass through.

    >>> from sagax._src.transforms.batch import BatchAxis
    >>> hijax.vmap_rule(BatchAxis(3), lambda x: x + 1, (0,), 0)(snp.zeros(3))
    Array([1., 1., 1.], dtype=float32)
    """

    def batched(*args: Any) -> Any:
        leaves, tree = trees.flatten(args)
        spread = trees.broadcast_prefix(in_axes, args, is_leaf=_is_none)
        zeros = [
            Zero(x.aval if d is None else unmapped(x.aval, d, axis_data.size))
            if type(x) is Zero
            else None
            for x, d in zip(leaves, spread, strict=True)
        ]
        live = [x for x in leaves if type(x) is not Zero]
        axes = [d for x, d in zip(leaves, spread, strict=True) if type(x) is not Zero]

        def on_examples(*given: Any) -> Any:
            values = iter(given)
            return f(*tree.unflatten([next(values) if z is None else z for z in zeros]))

        run = vmap(
            on_examples,
            in_axes=tuple(axes),
            out_axes=out_axes,
            axis_size=axis_data.size,
            axis_name=axis_data.name,
            spmd_axis_name=axis_data.spmd_name,
            sum_match=sum_match,
        )
        return run(*live)

    return batched
