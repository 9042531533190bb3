"""Flatten pytrees to vectors, and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of, is_operand, not_an_array
from sagax._src.diagnostics.errors import DtypeError, ShapeError

_Tree = TypeVar("_Tree")


class _Unravel:
    """Restore a pytree from a vector. Equal for pytrees of the same structure and types."""

    __slots__ = ("dtype", "dtypes", "shapes", "tree")

    def __init__(self, tree: Any, shapes: tuple, kinds: tuple, dtype: Any) -> None:
        self.tree = tree
        self.shapes = shapes
        self.dtypes = kinds
        self.dtype = dtype

    def _key(self) -> tuple:
        return self.tree, self.shapes, self.dtypes, self.dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unravel) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.tree, self.shapes))

    def __call__(self, flat: Any) -> Any:
        aval = aval_of(flat)
        sizes = list(map(math.prod, self.shapes))
        if aval.shape != (sum(sizes),):
            raise ShapeError(
                f"unravel takes a vector of {sum(sizes)} elements",
                function="unravel",
                argument="flat",
                got=flat,
            )
        # where all had one dtype, the vector may have another, as in jax
        if len(set(self.dtypes)) > 1 and aval.dtype != self.dtype:
            raise DtypeError(
                f"unravel function given array of dtype {aval.dtype}, but expected dtype {self.dtype}",
                function="unravel",
                argument="flat",
                fix=f"flat.astype({str(self.dtype)!r})",
            )
        pieces = lax.split(flat, sizes) if sizes else []
        same = len(set(self.dtypes)) <= 1
        leaves = [
            snp.reshape(part, shape) if same else snp.reshape(part, shape).astype(dtype)
            for part, shape, dtype in zip(pieces, self.shapes, self.dtypes, strict=True)
        ]
        return self.tree.unflatten(leaves)


def ravel_pytree(pytree: _Tree) -> tuple[Array, Callable[[Any], _Tree]]:
    """Flatten a pytree to one vector, and return also the function that restores such a pytree.

    The vector has the dtype that those of the leaves promote to, where a Python number counts as an
    array of its default dtype; the way back restores shapes and dtypes.

    >>> from sagax.flatten_util import ravel_pytree
    >>> flat, unravel = ravel_pytree({"w": snp.ones((2, 2)), "b": snp.zeros(2)})
    >>> flat
    Array([0., 0., 1., 1., 1., 1.], dtype=float32)
    >>> unravel(2 * flat)["w"]
    Array([[2., 2.],
           [2., 2.]], dtype=float32)
    """
    leaves, tree = trees.flatten(pytree)
    for x, path in zip(leaves, trees.key_paths(pytree), strict=True):
        if not is_operand(x):
            path_name = trees.argument_path("pytree", path)
            raise not_an_array(x).attach(function="ravel_pytree", argument=path_name)
    avals = [aval_of(x) for x in leaves]
    if not leaves:
        flat = snp.zeros(0, dtypes.float32)
        return flat, _Unravel(tree, (), (), flat.dtype)
    shapes, kinds = tuple(a.shape for a in avals), tuple(a.dtype for a in avals)
    # leaves of one dtype keep their weak type, as in jax
    joint = snp.result_type(*kinds) if len(set(kinds)) > 1 else None
    flat = snp.concatenate([snp.ravel(x) for x in leaves], dtype=joint)
    return flat, _Unravel(tree, shapes, kinds, flat.dtype)
