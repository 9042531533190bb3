# error: JaxRuntimeError
# expect: ValueError | JaxRuntimeError | XlaRuntimeError | RuntimeError | DonationWarning
# line: 27
# also-line: 24
# depends: -
# fix: copy
# fixed-file: fixed/shadow_weights_donated.py
# result: [0.85, -2.15, 0.8] [0.9719, -2.028, 0.5561]
# family: donation/same-buffer-twice

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0, 1))
def train_step(weights, shadow, gradient):
    weights = weights - 0.1 * gradient
    return weights, 0.9 * shadow + 0.1 * weights


weights = jnp.array([1.0, -2.0, 0.5])
shadow = weights
gradient = jnp.array([0.5, 0.5, -1.0])
for _ in range(3):
    weights, shadow = train_step(weights, shadow, gradient)
print([round(float(v), 4) for v in weights], [round(float(v), 4) for v in shadow])
