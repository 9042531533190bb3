"""A string is added to an array."""

import sagax.numpy as snp

print(snp.zeros(3) + "1")  # expect-error
