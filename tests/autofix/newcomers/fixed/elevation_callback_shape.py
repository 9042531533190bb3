import jax
import jax.numpy as jnp
import numpy as np

GRID = np.arange(25.0, dtype=np.float32).reshape(5, 5)


def lookup_on_host(ij):
    ij = np.asarray(ij)
    return GRID[ij[:, 0], ij[:, 1]]


def elevation(ij):
    result = jax.ShapeDtypeStruct(ij.shape[:1], jnp.float32)
    return jax.pure_callback(lookup_on_host, result, ij)


@jax.jit
def climb(path):
    heights = elevation(path)
    return jnp.sum(jnp.maximum(jnp.diff(heights), 0.0))


path = jnp.array([[0, 0], [1, 1], [1, 0], [3, 2]])
print(float(climb(path)))
