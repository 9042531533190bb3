"""A misspelt method of an expression."""

import sagax.numpy as snp

x = snp.ones((2, 3))
print((x + 1).sun())  # expect-error
