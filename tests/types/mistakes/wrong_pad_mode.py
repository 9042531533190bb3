"""A mode of padding that does not exist."""

import sagax.numpy as snp

print(snp.pad(snp.ones(3), 1, mode="mirror"))  # expect-error
