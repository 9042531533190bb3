# One correct fixed version of tile_repeats_traced.py
import jax
import jax.numpy as jnp


@jax.jit(static_argnames="count")
def repeat_prompt(embedding, count):
    rows = jnp.tile(embedding, (count, 1))
    return rows + jnp.arange(rows.shape[0])[:, None]


print(repeat_prompt(jnp.array([1.0, 2.0]), 3).tolist())
