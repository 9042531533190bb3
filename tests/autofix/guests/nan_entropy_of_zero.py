# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently gives nan: log(0) on the side that where drops
# line: 16
# also-line: 27
# depends: weights
# fix: double_where
# fixed-file: fixed/nan_entropy_of_zero.py
# result: [-0.2365, -0.04, 0.2343, 0.6198]

import jax
import jax.numpy as jnp


def entropy(probabilities):
    terms = jnp.where(probabilities > 0.0, probabilities * jnp.log(probabilities), 0.0)
    return -jnp.sum(terms)


def objective(weights):
    probabilities = jnp.maximum(weights, 0.0)
    probabilities = probabilities / probabilities.sum()
    return entropy(probabilities) + 0.1 * jnp.sum(weights**2)


weights = jnp.array([0.5, -0.2, 0.3, 0.2])
print([round(float(g), 4) for g in jax.grad(objective)(weights)])
