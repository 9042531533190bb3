"""Linear algebra on stacks that are sharded along their batch dimensions."""

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import P, lax

FUNCTIONS = {
    "cholesky": lambda a: snp.linalg.cholesky(a @ snp.matrix_transpose(a)),
    "lu": lambda a: lax.linalg.lu(a),
    "qr": snp.linalg.qr,
    "svd": lambda a: snp.linalg.svd(a),
    "eigh": snp.linalg.eigh,
    "eig": lambda a: snp.linalg.eig(a),
    "schur": lax.linalg.schur,
    "hessenberg": lax.linalg.hessenberg,
    "tridiagonal": lambda a: lax.linalg.tridiagonal(a),
    "triangular_solve": lambda a: lax.linalg.triangular_solve(a, a, left_side=True),
    "tridiagonal_solve": lambda a: lax.linalg.tridiagonal_solve(a[..., 0], a[..., 1], a[..., 2], a),
    "householder_product": lambda a: lax.linalg.householder_product(a, a[..., 0]),
    "solve": lambda a: snp.linalg.solve(a, a),
    "det": snp.linalg.det,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_device_computes_its_own_matrices(name, eight_devices):
    function = FUNCTIONS[name]
    mesh = sagax.make_mesh((4, 2), ("x", "y"), axis_types=(sagax.sharding.AxisType.Auto,) * 2)
    values = np.random.default_rng(0).standard_normal((4, 2, 4, 4)).astype(np.float32)
    stack = values + 5 * np.eye(4, dtype=np.float32)
    sharded = sagax.device_put(stack, sagax.NamedSharding(mesh, P("x", "y")))
    compiled = sagax.jit(function).lower(sharded).compile()
    assert "all-gather" not in compiled.as_text()
    expected = sagax.tree.leaves(sagax.jit(function)(stack))
    for found, want in zip(sagax.tree.leaves(compiled(sharded)), expected, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)
