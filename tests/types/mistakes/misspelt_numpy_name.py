"""A misspelt name of sagax.numpy."""

import sagax.numpy as snp

x = snp.ones(3)
y = snp.arangee(3)  # expect-error
print(x + y)
