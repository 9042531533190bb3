"""Name what `sagax.example_libraries` imports on first use."""

from sagax.example_libraries import optimizers as optimizers
from sagax.example_libraries import stax as stax
