# error: TracerArrayConversionError
# line: 14
# depends: x
# fix: jnp_instead_of_np
# result: [[-2.449000120162964, 0.0, 2.449000120162964], [-1.4140000343322754, -1.4140000343322754, 2.828000068664551]]

import jax
import jax.numpy as jnp
import numpy as np


def normalise(x):
    out = np.zeros(x.shape, np.float32)
    np.subtract(x, x.mean(), out=out)
    return out / (x.std() + 1e-6)


@jax.jit
def layer(params, batch):
    return jax.vmap(normalise)(batch) * params["scale"]


print(jnp.round(layer({"scale": 2.0}, jnp.array([[1.0, 2.0, 3.0], [0.0, 0.0, 3.0]])), 3).tolist())
