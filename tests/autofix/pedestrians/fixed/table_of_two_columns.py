import jax
import jax.numpy as jnp


def trajectory(positions, velocities):
    table = jnp.zeros((positions.shape[0], 2))
    table = table.at[:, 0].set(positions)
    table = table.at[:, 1].set(velocities)
    return table


print(jax.jit(trajectory)(jnp.arange(3.0), jnp.ones(3) * 2).tolist())
