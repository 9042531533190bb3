# One correct fixed version of one_key_for_all_walkers.py
import jax
import jax.numpy as jnp


def walk(key, start):
    steps = jax.random.normal(key, (20,))
    return start + jnp.cumsum(steps)


@jax.jit
def simulate(key, starts):
    keys = jax.random.split(key, starts.shape[0])
    return jax.vmap(walk)(keys, starts)


starts = jnp.zeros(6)
paths = simulate(jax.random.key(7), starts)
ends = paths[:, -1]
print("walkers that differ:", len(set(ends.tolist())))
