"""A method of resizing that does not exist."""

import sagax
import sagax.numpy as snp

print(sagax.image.resize(snp.ones((2, 2)), (4, 4), method="bicubical"))  # expect-error
