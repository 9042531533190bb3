# error: TypeError
# expect: TypeError | ValueError
# line: 19
# depends: -
# fix: partial
# result: [0.0, 1.0, 5.0]

import jax
import jax.numpy as jnp


def neuron(x, kind):
    if kind == "relu":
        return jnp.maximum(x, 0).sum()
    return jnp.tanh(x).sum()


x = jnp.arange(6.0).reshape(3, 2) - 2
print(jax.vmap(neuron)(x, "relu").tolist())
