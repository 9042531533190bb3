"""The shape is called."""

import sagax.numpy as snp

print(snp.zeros(3).shape())  # expect-error
