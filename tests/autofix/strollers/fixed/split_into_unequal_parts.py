# One correct fixed version of split_into_unequal_parts.py
import jax
import jax.numpy as jnp


@jax.jit
def chunk_means(x):
    return jnp.stack([part.mean() for part in jnp.array_split(x, 3)])


print([round(float(v), 3) for v in chunk_means(jnp.arange(10.0))])
