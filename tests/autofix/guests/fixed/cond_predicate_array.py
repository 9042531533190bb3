# One correct fixed version of cond_predicate_array.py
import jax
import jax.numpy as jnp


def rectify(current, threshold):
    return jnp.where(current > threshold, current - threshold, 0.0)


@jax.jit
def firing_rates(inputs, weights, threshold):
    return rectify(inputs @ weights, threshold)


inputs = jnp.array([1.0, 0.5])
weights = jnp.array([[0.8, -0.2, 0.1], [0.4, 0.9, 0.2]])
print([round(float(r), 3) for r in firing_rates(inputs, weights, 0.2)])
