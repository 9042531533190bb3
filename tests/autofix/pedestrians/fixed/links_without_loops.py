import jax
import jax.numpy as jnp


@jax.jit
def adjacency(points):
    gaps = points[:, None] - points[None, :]
    near = jnp.where(jnp.abs(gaps) < 1.5, 1.0, 0.0)
    near = jnp.fill_diagonal(near, 0.0, inplace=False)
    return near


print(adjacency(jnp.array([0.0, 1.0, 2.0, 4.0])).tolist())
