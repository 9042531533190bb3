"""Quantize vectors: assign each to its nearest centroid.

>>> import sagax.numpy as snp
>>> from sagax.scipy.cluster.vq import vq
>>> vq(snp.array([[0.0], [9.0]]), snp.array([[1.0], [8.0]]))[0]
Array([0, 1], dtype=int32)
"""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
import sagax.scipy.linalg._common as _common
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.numpy._base import promotes_freely

__all__ = ["vq"]


@promotes_freely
def vq(obs: Any, code_book: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """Assign each observation to the nearest code: its index, and the distance.

    `obs` has the shape (m, n) and `code_book` (k, n), or (m,) and (k,) for numbers.

    >>> from sagax.scipy.cluster.vq import vq
    >>> vq(snp.array([[0.0, 0.0]]), snp.array([[3.0, 4.0], [6.0, 8.0]]))[1]
    Array([5.], dtype=float32)
    """
    obs, code_book = _common.arrays("scipy.cluster.vq.vq", obs, code_book)
    if obs.ndim != code_book.ndim or obs.ndim not in (1, 2) or obs.shape[1:] != code_book.shape[1:]:
        raise ArgumentValueError(
            f"shapes {obs.shape} and {code_book.shape} do not fit",
            function="scipy.cluster.vq.vq",
            expected="(m, n) and (k, n), or (m,) and (k,)",
        )
    if obs.ndim == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    distances = snp.linalg.norm(obs[:, None] - code_book, axis=-1)
    code = snp.argmin(distances, axis=-1)
    return code, snp.take_along_axis(distances, code[:, None], axis=-1)[:, 0]
