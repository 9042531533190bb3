# One wrong fix of constant_feature_scaled.py: all features are scaled less, not only the one that is constant
import jax
import jax.numpy as jnp


def standardise(table):
    centered = table - table.mean(axis=0)
    return centered / (table.std(axis=0) + 1e-2)


@jax.jit
def similarity(table):
    z = standardise(table)
    return (z @ z.T).mean()


# the second sensor is stuck
table = jnp.array([[1.0, 5.0, 0.2], [2.0, 5.0, 0.1], [4.0, 5.0, 0.7]])
print(round(float(jnp.abs(similarity(table))), 3), standardise(table)[0, 1] == 0.0)
