# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently uses one mask for all steps
# line: 18
# depends: -
# fix: pass_key
# fixed-file: fixed/impure_numpy_dropout.py
# result: [True, True]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def hidden(weights, x):
    h = jax.nn.relu(x @ weights)
    mask = np.random.rand(*h.shape) > 0.5
    return jnp.where(mask, 2.0 * h, 0.0)


x = jnp.ones((4, 8))
weights = jnp.ones((8, 32))
outputs = [hidden(weights, x) for _ in range(3)]
print([bool(jnp.any(out != outputs[0])) for out in outputs[1:]])
