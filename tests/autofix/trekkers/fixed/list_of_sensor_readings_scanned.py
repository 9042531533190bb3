import jax
import jax.numpy as jnp


def smooth(level, reading):
    level = 0.8 * level + 0.2 * reading
    return level, level


readings = [jnp.array([1.0, 2.0]), jnp.array([3.0, 1.0]), jnp.array([2.0, 2.0])]
total, path = jax.lax.scan(smooth, jnp.zeros(2), jnp.stack(readings))
print(total.round(3).tolist(), path.shape)
