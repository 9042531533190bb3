# error: none
# expect: none
# result: agree True ; [1.5708, 0.5, 1.1781]

import math

import jax
import jax.numpy as jnp
import numpy as np


def host_gamma(x):
    return np.vectorize(math.gamma)(x).astype(np.float32)


def gamma(x):
    spec = jax.ShapeDtypeStruct(x.shape, jnp.float32)
    return jax.pure_callback(host_gamma, spec, x, vmap_method="expand_dims")


@jax.jit
def beta(a, b):
    return gamma(a) * gamma(b) / gamma(a + b)


def beta_lgamma(a, b):
    g = jax.scipy.special.gammaln
    return jnp.exp(g(a) + g(b) - g(a + b))


a = jnp.array([0.5, 1.0, 2.5])
b = jnp.array([1.5, 2.0, 0.5])
grid = jax.vmap(lambda t: beta(a, t))(b[:, None] * jnp.ones(3))
want = jax.vmap(lambda t: beta_lgamma(a, t))(b[:, None] * jnp.ones(3))
print("agree", bool(jnp.allclose(grid, want, rtol=1e-4)))
print([round(float(v), 4) for v in jnp.diag(grid)])
