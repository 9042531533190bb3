# error: TypeError
# line: 16
# depends: -
# fix: any
# result: [-0.52, -0.16, 0.16, 0.52] ; 4.4453

import jax
import jax.numpy as jnp


def potential(x):
    return jnp.sum(jnp.cosh(x)) + 2.0 * jnp.sum((x[1:] - x[:-1] - 0.5) ** 2)


def hvp(x, v):
    return jax.jvp(jax.grad(potential), (x,), v)[1]


@jax.jit
def newton_cg(x):
    g = jax.grad(potential)(x)
    d, _ = jax.scipy.sparse.linalg.cg(lambda v: hvp(x, v) + 1e-3 * v, -g, maxiter=20)
    sizes = 0.5 ** jnp.arange(12)
    values = jax.vmap(lambda t: potential(x + t * d))(sizes)
    return x + sizes[jnp.argmin(values)] * d


x = jnp.array([0.5, 0.4, 0.3, 0.2])
for _ in range(8):
    x = newton_cg(x)
print([round(float(v), 2) for v in x])
print(round(float(potential(x)), 4))
