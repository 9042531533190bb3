# One correct fixed version of array_np_stack_features.py
import jax
import jax.numpy as jnp


def step(state, price):
    fast, slow = state
    fast = 0.5 * fast + 0.5 * price
    slow = 0.9 * slow + 0.1 * price
    features = jnp.stack([fast, slow, fast - slow])
    return (fast, slow), features


def moving_average_features(prices):
    _, features = jax.lax.scan(step, (prices[0], prices[0]), prices)
    return features


features = moving_average_features(jnp.array([10.0, 11.0, 12.0, 11.0, 9.0]))
print(features.shape, [round(float(v), 4) for v in features[-1]])
