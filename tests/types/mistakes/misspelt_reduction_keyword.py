"""A misspelt keyword of a reduction."""

import sagax.numpy as snp

x = snp.ones((2, 3))
print(snp.sum(x, axes=0))  # expect-error
