# error: TypeError
# expect: TypeError
# line: 17
# also-line: 22
# depends: velocity, gradient
# fix: cast
# result: [0.7900000214576721, 0.8950000405311584, 1.190000057220459] [1.0, 1.100000023841858]

import jax
import jax.numpy as jnp


def step(state, gradient):
    weights, velocity = state
    velocity = 0.9 * velocity + gradient
    weights = weights - 0.1 * velocity
    return (weights, velocity), jnp.abs(velocity).max()


start = (jnp.ones(3), jnp.zeros(3, jnp.bfloat16))
gradients = jnp.array([[1.0, 0.5, -1.0], [0.2, 0.1, 0.0]])
(weights, velocity), peaks = jax.lax.scan(step, start, gradients)
print(weights.round(3).tolist(), peaks.round(3).tolist())
