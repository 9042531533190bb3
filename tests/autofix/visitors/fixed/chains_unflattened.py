# One correct fixed version of chains_unflattened.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=1)
def gelman_rubin(draws, chains):
    """Potential scale reduction of draws that were stored one chain after the other."""
    draws = draws.reshape(chains, -1)
    length = draws.shape[1]
    between = length * jnp.var(draws.mean(axis=1), ddof=1)
    within = jnp.mean(jnp.var(draws, axis=1, ddof=1))
    return jnp.sqrt(((length - 1) / length * within + between / length) / within)


draws = jnp.sin(jnp.arange(120.0) ** 1.5) + 0.2 * (jnp.arange(120) // 30)
print(round(float(gelman_rubin(draws, 4)), 4))
