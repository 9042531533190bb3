import jax
import jax.numpy as jnp


@jax.jit
def crossing(series, level):
    above = jnp.argwhere(series > level, size=1)
    first = above[0, 0]
    return first, series[first]


walk = jnp.cumsum(jnp.array([0.5, 1.0, -0.25, 2.0, 1.0]))
for level in (0.6, 3.0):
    position, value = crossing(walk, level)
    print(int(position), float(value))
