"""Define primitives that tell the compiler something about a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core.effects import Effect
from sagax._src.core.families import IDENTITY, OPAQUE, Fusion
from sagax._src.core.layouts import Layout
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32, i32
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.makers import anything, elementwise
from sagax._src.primitives.structural import linear_rules

# dce_sink: keep a value -------------------------------------------------------------------------------

_KEPT = frozenset({Effect("dce_sink")})

dce_sink_p = Primitive("dce_sink", family=OPAQUE, multiple_results=True, is_higher_order=True)
dce_sink_p.abstract_rule = lambda x, **_: []
dce_sink_p.reference_rule = lambda x, **_: []
dce_sink_p.effects_rule = lambda **_: _KEPT


@dce_sink_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    return dce_sink_p.bind(*primals, **params), []


@dce_sink_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    return dce_sink_p.bind(*args, **params), []


@dce_sink_p.lower
def _(b: Any, x: Any, *, prevent_mlir_dce: bool) -> list:
    # a barrier whose result nothing reads: XLA may drop it, with all that only it needs
    if prevent_mlir_dce:
        b.op("optimization_barrier", [x], x.aval)
    return []


def dce_sink(x: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Keep the computation of `x` in the jaxpr, although no result depends on it.

    Args:
      x: an array.
      prevent_mlir_dce: keep it in the module, too. XLA may remove it when it compiles.

    >>> def f(x):
    ...     lax.dce_sink(x * 2)
    ...     return x
    >>> [eqn.primitive.name for eqn in sagax.make_jaxpr(f)(1.0).eqns]
    ['mul', 'dce_sink']
    """
    dce_sink_p.bind(x, prevent_mlir_dce=bool(prevent_mlir_dce))


# layout_constraint: the layout of a value -----------------------------------------------------------------

layout_constraint_p = Primitive(
    "layout_constraint",
    family=IDENTITY,
    fusion=Fusion.SEPARATE,
    multilinear=True,
    samples=[
        Sample(f32(2, 3), layout=Layout((1, 0))),
        Sample(i32(2), layout=Layout((0,))),
    ],
)
layout_constraint_p.abstract_rule = lambda x, layout: x
layout_constraint_p.reference_rule = lambda x, layout: x
linear_rules(layout_constraint_p)
layout_constraint_p.transpose_rule = lambda ct, x, layout: [
    layout_constraint_p.bind(ct, layout=layout)
]


@layout_constraint_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, layout: Layout) -> tuple:
    (d,) = in_dims
    inner = [k + (k >= d) for k in layout.major_to_minor]
    return layout_constraint_p.bind(*args, layout=Layout((d, *inner))), d


@layout_constraint_p.lower
def _(b: Any, x: Any, *, layout: Layout) -> Any:
    minor_first = list(reversed(layout.major_to_minor))
    text = f"[dense<{minor_first if minor_first else ''}> : tensor<{len(minor_first)}xindex>]"
    return b.custom_call(
        "LayoutConstraint", [x], [x.aval], operand_layouts=text, result_layouts=text
    )[0]


def constrain_layout(x: Any, layout: Any, path: str = "x") -> Any:
    """Return `x`, in memory of executables in the layout."""
    if not isinstance(layout, Layout):
        raise ArgumentError.about("with_layout_constraint", "layouts", layout, "a Layout")
    ndim = aval_of(x).ndim
    if len(layout.major_to_minor) != ndim:
        raise ArgumentValueError(
            function="with_layout_constraint",
            argument=path,
            got=f"{aval_of(x).str_short(short_dtypes=True)} and {layout}",
            expected=f"a layout of {ndim} dimensions",
        )
    return layout_constraint_p.bind(x, layout=layout)


# xla_metadata_value: attributes of the operation that computed a value ---------------------------------------

xla_metadata_value_p = elementwise(
    "xla_metadata_value",
    family=IDENTITY,
    numpy=lambda x, **_: np.copy(x),
    accepts=anything,
    exact=True,
    jvp=lambda t, out, x, **params: xla_metadata_value_p.bind(t, **params),
    transpose=lambda ct, x, **_: (ct,),
    samples=[Sample(f32(2, 3), xla_metadata_kvs=(("k", "v"),))],
)


@xla_metadata_value_p.lower
def _(b: Any, x: Any, *, xla_metadata_kvs: tuple) -> Any:
    b.mark(x, xla_metadata_kvs)
    return x


def mark_value(x: Any, marks: tuple[tuple[str, str], ...]) -> Any:
    """Return `x`, whose operation gets attributes when it is lowered."""
    return xla_metadata_value_p.bind(x, xla_metadata_kvs=marks)
