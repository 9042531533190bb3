"""What SciPy keeps under `scipy.sparse` and needs no sparse matrices: `linalg`, iterative solvers."""

from __future__ import annotations

from sagax.scipy.sparse import linalg

__all__ = ["linalg"]
