# error: ConcretizationTypeError
# line: 15
# depends: x
# fix: return_value
# result: 5.0 0.9

import jax
import jax.numpy as jnp

history = []

@jax.jit
def step(x):
    loss = (x ** 2).sum()
    history.append(loss)
    return x - 0.1 * x

x = step(jnp.array([1.0, 2.0]))
print(round(float(history[0]), 4), round(float(x[0]), 4))
