"""An order of meshgrid that does not exist."""

import sagax.numpy as snp

v = snp.arange(3)
print(snp.meshgrid(v, v, indexing="yx"))  # expect-error
