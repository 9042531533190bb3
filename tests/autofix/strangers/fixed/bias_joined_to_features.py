# One correct fixed version of bias_joined_to_features.py
import jax
import jax.numpy as jnp


def features(x, bias):
    waves = [jnp.sin(x), jnp.cos(x), x**2]
    return jnp.concatenate([jnp.atleast_1d(bias), *waves])


@jax.jit
def predict(weights, x, bias):
    return weights @ features(x, bias)


weights = jnp.linspace(-1.0, 1.0, 7)
print(round(float(predict(weights, jnp.array([0.5, 1.5]), 2.0)), 4))
