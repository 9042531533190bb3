"""The result of debug.print is used."""

import sagax
import sagax.numpy as snp

x = snp.ones(3)
y = sagax.debug.print("{}", x)
print(y + x)  # expect-error
