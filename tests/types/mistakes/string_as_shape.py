"""A shape is given as a string."""

import sagax.numpy as snp

print(snp.zeros("3"))  # expect-error
