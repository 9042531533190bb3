"""A function of arrays gets a dictionary."""

import sagax.numpy as snp

print(snp.sin({"x": 1.0}))  # expect-error
