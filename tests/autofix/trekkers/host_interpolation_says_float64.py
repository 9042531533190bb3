# error: RuntimeError
# line: 21
# also-line: 25
# depends: -
# fix: any
# result: [0.125, 0.7500000596046448]

import jax
import jax.numpy as jnp
import numpy as np

grid = np.linspace(0.0, 1.0, 5)


def lookup(x):
    return np.interp(x, grid, grid**2)


@jax.jit
def read(x):
    y = jax.pure_callback(lookup, jax.ShapeDtypeStruct((), jnp.float32), x)
    return 2.0 * y


print(read(jnp.array([0.25, 0.6])).round(3).tolist())
