# error: ValueError
# line: 15
# depends: bias
# fix: add_axis
# fixed-file: fixed/bias_joined_to_features.py
# result: -0.2119
# family: 3/concatenate-scalar

import jax
import jax.numpy as jnp


def features(x, bias):
    waves = [jnp.sin(x), jnp.cos(x), x**2]
    return jnp.concatenate([bias, *waves])


@jax.jit
def predict(weights, x, bias):
    return weights @ features(x, bias)


weights = jnp.linspace(-1.0, 1.0, 7)
print(round(float(predict(weights, jnp.array([0.5, 1.5]), 2.0)), 4))
