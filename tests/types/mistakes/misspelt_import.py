"""A misspelt name in an import."""

import sagax.numpy as snp
from sagax.nn import relu, softmaxx  # expect-error

print(relu(snp.ones(3)), softmaxx(snp.ones(3)))
