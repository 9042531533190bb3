"""A misspelt update of an element."""

import sagax.numpy as snp

print(snp.zeros(3).at[0].sett(1))  # expect-error
