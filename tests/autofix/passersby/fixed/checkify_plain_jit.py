# One correct fixed version of checkify_plain_jit.py
import jax
import jax.numpy as jnp
from jax.experimental import checkify


def safe_cholesky(K, jitter):
    L = jnp.linalg.cholesky(K + jitter * jnp.eye(K.shape[0]))
    checkify.check(jnp.all(jnp.isfinite(L)), "kernel matrix is not positive definite")
    return L


def rbf(x, z, ell):
    return jnp.exp(-0.5 * (x[:, None] - z[None]) ** 2 / ell ** 2)


@jax.jit
@checkify.checkify
def gp_mean(x, y, xs, ell):
    L = safe_cholesky(rbf(x, x, ell), 1e-3)
    alpha = jax.scipy.linalg.cho_solve((L, True), y)
    return rbf(xs, x, ell) @ alpha


x = jnp.array([-2.0, -1.0, 0.0, 1.5, 2.5])
y = jnp.sin(x)
xs = jnp.array([-0.5, 0.5, 2.0])
error, mean = gp_mean(x, y, xs, 1.0)
error.throw()
print([round(float(m), 3) for m in mean])
