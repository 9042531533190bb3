"""Singular values alone are unpacked as three arrays."""

import sagax.numpy as snp

u = snp.linalg.svd(snp.ones((2, 2)), compute_uv=False)
print(u.U)  # expect-error
