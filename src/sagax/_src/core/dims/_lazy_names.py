"""Name what `dims` imports on first use."""

# pyright: reportUnusedImport=false

from sagax._src.core.dims.scope import SymbolicScope, bounds, symbolic_shape
from sagax._src.core.dims.solve import Solution, solve_dims, unsolvable
