"""Solve linear systems iteratively: `scipy.sparse.linalg` without sparse matrices."""

from __future__ import annotations

from sagax.scipy.sparse import linalg

__all__ = ["linalg"]
