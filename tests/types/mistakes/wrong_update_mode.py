"""A mode of an update that does not exist."""

import sagax.numpy as snp

x = snp.zeros(3)
print(x.at[5].set(1.0, mode="ignore"))  # expect-error
