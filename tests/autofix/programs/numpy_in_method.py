# error: TracerArrayConversionError
# line: 17
# depends: x
# fix: jnp_instead_of_np
# result: 0.4796

import jax
import jax.numpy as jnp
import numpy as np


class Layer:
    def __init__(self, weight):
        self.weight = weight

    def __call__(self, x):
        return np.tanh(x @ self.weight)


layer = Layer(jnp.array([[1.0, -1.0], [0.5, 2.0]]))
run = jax.jit(lambda x: layer(x).sum())
print(round(float(run(jnp.array([0.3, 0.2]))), 4))
