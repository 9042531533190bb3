"""A misspelt name of a nested namespace."""

import sagax.numpy as snp

print(snp.linalg.nrom(snp.ones(3)))  # expect-error
