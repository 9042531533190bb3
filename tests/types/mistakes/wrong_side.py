"""A side of searchsorted that does not exist."""

import sagax.numpy as snp

print(snp.searchsorted(snp.arange(3), 1, side="middle"))  # expect-error
