"""An array is written to."""

import sagax.numpy as snp

x = snp.zeros(3)
x[0] = 1.0  # expect-error
print(x)
