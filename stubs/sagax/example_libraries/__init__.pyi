"""Show how small libraries are built: `optimizers` and `stax` (networks)."""

from sagax.example_libraries import optimizers as optimizers
from sagax.example_libraries import stax as stax
