from functools import partial

import jax
import jax.numpy as jnp


@jax.jit
def occupancy(samples, edges):
    index = jnp.searchsorted(edges, samples)
    return jnp.bincount(index, length=edges.size + 1)


samples = jnp.array([0.1, 0.4, 0.35, 0.8, 2.0])
edges = jnp.array([0.25, 0.5, 1.0])
print(occupancy(samples, edges=edges).tolist())
