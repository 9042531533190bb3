"""A shape is given as several arguments."""

import sagax.numpy as snp

print(snp.ones(2, 3, 4))  # expect-error
