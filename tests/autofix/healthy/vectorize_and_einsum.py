from functools import partial

import jax
import jax.numpy as jnp


@partial(jnp.vectorize, signature="(n),(n,n)->()")
def quadratic(x, a):
    return x @ a @ x


@jax.jit
def bilinear(x, a, y):
    return jnp.einsum("bi,ij,bj->b", x, a, y)


a = jnp.array([[2.0, 1.0], [0.0, 3.0]])
x = jnp.arange(12.0).reshape(3, 2, 2)
print(quadratic(x, a).shape, quadratic(x, a)[0].tolist())
print(bilinear(x[:, 0], a, x[:, 1]).tolist())
print(bool(jnp.allclose(bilinear(x[:, 0], a, x[:, 0]), quadratic(x[:, 0], a))))
