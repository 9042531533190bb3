# error: TracerBoolConversionError
# line: 18
# depends: temperature
# fix: where
# trap: logical_or(temperature, 1.0) is True, not the temperature
# probe: abs(float(policy(jnp.array([0.0, 1.0]), 2.0)[1]) - 0.62245) < 1e-4
# fixed-file: fixed/temperature_or_default.py
# result: [0.2312, 0.6285, 0.1402] ; 6.0
# family: 1/or-as-logical

import jax
import jax.numpy as jnp


@jax.jit
def policy(scores, temperature):
    """Action probabilities; a temperature of 0 stands for the default."""
    scale = temperature or 1.0
    return jax.nn.softmax(scores / scale)


@jax.jit
def greedy_value(scores, values):
    return values[jnp.argmax(scores)]


scores = jnp.array([1.0, 2.0, 0.5])
probs = policy(scores, 1.0)
print([round(float(p), 4) for p in probs])
print(float(greedy_value(scores, jnp.array([5.0, 6.0, 7.0]))))
