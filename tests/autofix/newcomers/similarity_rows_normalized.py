# error: none
# expect: AmbiguousAxesWarning | BroadcastWarning
# jax-differs: jax silently divides the columns
# line: 20
# depends: -
# fix: keepdims
# result: [1.0, 1.0, 1.0, 1.0]

import jax
import jax.numpy as jnp


def rbf(x, lengthscale):
    sq = jnp.sum((x[:, None] - x[None]) ** 2, axis=-1)
    return jnp.exp(-0.5 * sq / lengthscale**2)


def diffusion_map(x, steps=2, lengthscale=0.7):
    kernel = rbf(x, lengthscale)
    markov = kernel / kernel.sum(axis=1)
    return jnp.linalg.matrix_power(markov, steps)


points = jnp.array([[0.0], [0.2], [0.9], [2.5]])
p = jax.jit(diffusion_map)(points)
print([round(r, 3) for r in p.sum(axis=1).tolist()])
