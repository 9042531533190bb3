# One correct fixed version of sum_of_squares_of_indices.py
import jax
import jax.numpy as jnp


@jax.jit
def second_moment(weights):
    positions = jnp.arange(weights.shape[0], dtype=jnp.float32) * 40
    return jnp.sum(positions * positions * weights)


total = second_moment(jnp.full(2000, 2))
print(f"{float(total):.3e}")
