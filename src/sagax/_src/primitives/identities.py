"""Define identity primitives with a meaning for transformations or the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.core import dtypes
from sagax._src.core.families import EXACT, IDENTITY, CotangentMask, Fusion
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, boolean, c64, f32, i32
from sagax._src.core.tangents import is_zero, nonzero_tangents, set_zero_derivative
from sagax._src.core.value import NUMBERS, aval_of
from sagax._src.primitives.makers import anything, elementwise

# stop_gradient ------------------------------------------------------------------------------------

stop_gradient_p = Primitive(
    "stop_gradient",
    family=IDENTITY,
    key_rule=None,
    exact=True,
    samples=[Sample(f32(3), derivatives=False)],
)
stop_gradient_p.abstract_rule = lambda x: x
stop_gradient_p.reference_rule = lambda x: x
stop_gradient_p.lower_rule = lambda b, x: x


set_zero_derivative(stop_gradient_p)


@stop_gradient_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
    return stop_gradient_p.bind(*args), in_dims[0]


def stop_gradient(x: Any) -> Any:
    """Return `x` (a pytree), and stop derivatives from flowing through it.

    >>> float(sagax.grad(lambda x: x * sagax.lax.stop_gradient(x))(3.0))
    3.0
    """

    def stop(leaf: Any) -> Any:
        if type(leaf) in NUMBERS or not dtypes.is_inexact(aval_of(leaf).dtype):
            return leaf
        return stop_gradient_p.bind(leaf)

    return trees.map(stop, x)


# copy ---------------------------------------------------------------------------------------------

# The same value with its own cotangent: those of its consumers are summed before they join the others.
copy_p = elementwise(
    "copy",
    family=EXACT,
    cost=0,
    cotangent_mask=CotangentMask.MOVED,
    numpy=np.copy,
    accepts=anything,
    exact=True,
    jvp=lambda t, out, x: copy_p.bind(t),
    transpose=lambda ct, x: (ct,),
    samples=[Sample(f32(2, 3)), Sample(i32(3)), Sample(c64(3)), Sample(boolean(2))],
)
copy_p.lower_rule = lambda b, x: x


# optimization_barrier --------------------------------------------------------------------------------

optimization_barrier_p = Primitive(
    "optimization_barrier",
    family=IDENTITY,
    fusion=Fusion.SEPARATE,
    rounds=True,
    key_rule=None,
    multiple_results=True,
    exact=True,
    samples=[Sample(f32(3), i32(2))],
)


@optimization_barrier_p.shard
def _(call: Any) -> list:
    return list(call.cuts)


@optimization_barrier_p.abstract
def _(*avals: Any) -> list:
    return list(avals)


@optimization_barrier_p.reference
def _(*xs: Any) -> list:
    return list(xs)


@optimization_barrier_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple:
    # separate barriers for primals and tangents, so that neither waits for the other
    outs = optimization_barrier_p.bind(*primals)
    live = [t for t in tangents if not is_zero(t)]
    fenced = iter(optimization_barrier_p.bind(*live) if live else [])
    return outs, [t if is_zero(t) else next(fenced) for t in tangents]


@optimization_barrier_p.transpose
def _(cts: Sequence[Any], *args: Any) -> list:
    live = nonzero_tangents(cts)
    fenced = iter(optimization_barrier_p.bind(*live) if live else [])
    return [ct if is_zero(ct) else next(fenced) for ct in cts]


@optimization_barrier_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
    return optimization_barrier_p.bind(*args), list(in_dims)


@optimization_barrier_p.lower
def _(b: Any, *xs: Any) -> list:
    return b.op("optimization_barrier", list(xs), list(b.outs)) if xs else []


def optimization_barrier(operand: Any, /) -> Any:
    """Return `operand` (a pytree), across which the compiler moves and merges no computation.

    >>> float(sagax.lax.optimization_barrier(2.0))
    2.0
    """
    leaves, tree = trees.flatten_argument("optimization_barrier", "operand", operand)
    return tree.unflatten(optimization_barrier_p.bind(*leaves))
