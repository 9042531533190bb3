import jax
import jax.numpy as jnp
import numpy as np

grid = np.linspace(0.0, 1.0, 5)


def lookup(x):
    return np.interp(x, grid, grid**2)


@jax.jit
def read(x):
    y = jax.pure_callback(lookup, jax.ShapeDtypeStruct(x.shape, jnp.float32), x)
    return 2.0 * y


print(read(jnp.array([0.25, 0.6])).round(3).tolist())
