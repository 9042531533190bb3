# error: TypeError
# line: 12
# depends: -
# fix: any
# result: [2.0, 2.0, 2.0, 2.0]

import jax
import jax.numpy as jnp


def resample(key, particles, weights):
    picked = jax.random.choice(key, particles, weights, (4,))
    return picked


particles = jnp.array([1.0, 2.0, 3.0])
weights = jnp.array([0.0, 1.0, 0.0])
print(resample(jax.random.key(0), particles, weights).tolist())
