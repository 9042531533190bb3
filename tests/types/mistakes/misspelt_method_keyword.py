"""A misspelt keyword of a method."""

import sagax.numpy as snp

x = snp.ones((2, 3))
print(x.mean(axis=0, keep_dims=True))  # expect-error
