"""Implement symbolic dimension sizes and the arithmetic of shapes.

From the bottom up: `assume` (assumptions of undecided equalities), `monomial` and `expression` (Dim:
polynomials in normal form, arithmetic, printing), `interval` (interval arithmetic), `linear` (integer
points of linear systems), `decide` (comparisons that hold for all sizes, for none, or for some), `parse`
(specifications as text), `scope` (variables and constraints), `shapes` (the arithmetic of shapes), `solve`
(variables from the sizes of arguments).

Modules that only symbolic sizes need are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.core.dims.assume import (
    Assumption,
    Assumptions,
    assumptions,
    no_assumptions,
    no_assumptions_on,
    note_assumption,
    set_locator,
)
from sagax._src.core.dims.expression import (
    Dim,
    Size,
    compare,
    equal,
    evaluate,
    set_dim_as_value,
    substitute,
    variables,
)
from sagax._src.core.dims.shapes import (
    Shape,
    broadcast_dim,
    canonical_shape,
    canonical_slice,
    ceil_div,
    check_sizes,
    clamp_dim,
    dilate_dim,
    divide_sizes,
    is_dim,
    is_static,
    max_dim,
    min_dim,
    non_negative,
    same,
    same_shape,
    shape_text,
    size,
    slice_size,
    stride_dim,
)
from sagax._src.lazy_import import lazy_names as _lazy_names

if TYPE_CHECKING:
    from sagax._src.core.dims._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)

__all__ = [
    "Assumption",
    "Assumptions",
    "Dim",
    "Shape",
    "Size",
    "Solution",
    "SymbolicScope",
    "assumptions",
    "bounds",
    "broadcast_dim",
    "canonical_shape",
    "canonical_slice",
    "ceil_div",
    "check_sizes",
    "clamp_dim",
    "compare",
    "dilate_dim",
    "divide_sizes",
    "equal",
    "evaluate",
    "is_dim",
    "is_static",
    "max_dim",
    "min_dim",
    "no_assumptions",
    "no_assumptions_on",
    "non_negative",
    "note_assumption",
    "same",
    "same_shape",
    "set_dim_as_value",
    "set_locator",
    "shape_text",
    "size",
    "slice_size",
    "solve_dims",
    "stride_dim",
    "substitute",
    "symbolic_shape",
    "unsolvable",
    "variables",
]
