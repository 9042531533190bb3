"""Solve linear systems iteratively: `scipy.sparse.linalg` without sparse matrices."""

from sagax.scipy.sparse import linalg as linalg
