"""The number of iterations is passed for a progress bar."""

import sagax.numpy as snp
from sagax import lax

print(lax.fori_loop(0, 10, lambda i, x: x + i, snp.ones(3), progress=10))  # expect-error
