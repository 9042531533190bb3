# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently turns the masked parameters to nan
# line: 16
# also-line: 23
# depends: -
# fix: double_where
# result: [-0.4, -0.073, 0.886, -1.0]

import jax
import jax.numpy as jnp


def gate_loss(theta, y):
    gate = jnp.maximum(theta, 0.0)
    entropy = jnp.where(gate > 0, -gate * jnp.log(gate), 0.0)
    return jnp.sum(entropy + 0.1 * theta * y)


theta = jnp.array([-0.4, 0.2, 0.7, -1.0])
counts = jnp.array([0.0, 3.0, 1.0, 0.0])
for _ in range(3):
    theta = theta - 0.1 * jax.grad(gate_loss)(theta, counts)
print([round(t, 3) for t in theta.tolist()])
