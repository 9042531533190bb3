# error: UnexpectedTracerError
# line: 16
# depends: x, params
# fix: return_value
# result: 2.8609 2

import jax
import jax.numpy as jnp

activations = []

@jax.jit
def forward(params, x):
    for w in params:
        x = jnp.tanh(w * x)
        activations.append(x)
    return x.sum()

params = [jnp.float32(1.0), jnp.float32(2.0)]
y = forward(params, jnp.array([0.5, 1.0]))
print(round(float(y + activations[0].sum()), 4), len(activations))
