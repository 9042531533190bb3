# One correct fixed version of survey_weights_in_a_column.py
import jax
import jax.numpy as jnp
import numpy as np

# the weights come as a table with one column
weights = np.array([[1.0], [0.2], [0.2], [3.0]], dtype=np.float32)
incomes = np.array([10.0, 50.0, 60.0, 20.0], dtype=np.float32)


@jax.jit
def weighted_mean(values, weights):
    return jnp.sum(weights * values) / jnp.sum(weights)


@jax.jit
def weighted_spread(values, weights):
    center = weighted_mean(values, weights)
    return jnp.sqrt(weighted_mean((values - center) ** 2, weights))


print(round(float(weighted_mean(incomes, weights[:, 0])), 3))
print(round(float(weighted_spread(incomes, weights[:, 0])), 3))
