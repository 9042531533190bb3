# error: TracerArrayConversionError
# line: 17
# depends: state, price
# fix: jnp_instead_of_np
# fixed-file: fixed/array_np_stack_features.py
# result: (5, 3) [10.0625, 10.2249, -0.1624]

import jax
import jax.numpy as jnp
import numpy as np


def step(state, price):
    fast, slow = state
    fast = 0.5 * fast + 0.5 * price
    slow = 0.9 * slow + 0.1 * price
    features = np.stack([fast, slow, fast - slow])
    return (fast, slow), features


def moving_average_features(prices):
    _, features = jax.lax.scan(step, (prices[0], prices[0]), prices)
    return features


features = moving_average_features(jnp.array([10.0, 11.0, 12.0, 11.0, 9.0]))
print(features.shape, [round(float(v), 4) for v in features[-1]])
