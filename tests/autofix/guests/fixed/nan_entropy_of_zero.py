# One correct fixed version of nan_entropy_of_zero.py
import jax
import jax.numpy as jnp


def entropy(probabilities):
    positive = probabilities > 0.0
    safe = jnp.where(positive, probabilities, 1.0)
    terms = jnp.where(positive, probabilities * jnp.log(safe), 0.0)
    return -jnp.sum(terms)


def objective(weights):
    probabilities = jnp.maximum(weights, 0.0)
    probabilities = probabilities / probabilities.sum()
    return entropy(probabilities) + 0.1 * jnp.sum(weights**2)


weights = jnp.array([0.5, -0.2, 0.3, 0.2])
print([round(float(g), 4) for g in jax.grad(objective)(weights)])
