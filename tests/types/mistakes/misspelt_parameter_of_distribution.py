"""A parameter of a distribution is misspelt."""

import sagax.numpy as snp
from sagax.scipy.stats import norm

print(norm.pdf(snp.ones(3), scal=2.0))  # expect-error
