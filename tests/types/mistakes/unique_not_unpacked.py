"""The counts are forgotten."""

import sagax.numpy as snp

values = snp.unique(snp.arange(3), return_counts=True)
print(values.shape)  # expect-error
