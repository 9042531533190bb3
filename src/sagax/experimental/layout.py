"""Request the memory layout of arrays: `Layout`, `Format` and `with_layout_constraint`.

>>> import sagax.numpy as snp
>>> snp.ones((2, 3)).format.layout
Layout(major_to_minor=(0, 1), tiling=(), sub_byte_element_size_in_bits=0)
"""

from __future__ import annotations

from typing import Any

from sagax._src import trees
from sagax._src.core.layouts import Format, Layout
from sagax._src.primitives.compiler_hints import constrain_layout

__all__ = ["Format", "Layout", "with_layout_constraint"]


def with_layout_constraint(x: Any, layouts: Any) -> Any:
    """Return `x`, which executables hold in the given memory layout.

    Outside of `jit` the layout stays row-major.

    Args:
      x: a pytree of arrays.
      layouts: a `Layout`, or a prefix of the pytree with one for each array.

    Raises ArgumentError for another type, ArgumentValueError for another number of dimensions.

    >>> from sagax.experimental.layout import Layout, with_layout_constraint
    >>> f = sagax.jit(lambda x: with_layout_constraint(x, Layout((1, 0))).sum(0))
    >>> f(snp.ones((2, 3)))
    Array([2., 2., 2.], dtype=float32)
    """
    leaves, tree = trees.flatten_argument("with_layout_constraint", "x", x)
    if trees.treedef_is_leaf(tree):
        return constrain_layout(x, layouts)
    wanted = trees.broadcast_prefix(layouts, x, is_leaf=lambda found: isinstance(found, Layout))
    return tree.unflatten([constrain_layout(*pair) for pair in zip(leaves, wanted, strict=True)])
