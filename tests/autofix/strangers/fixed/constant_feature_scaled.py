# One correct fixed version of constant_feature_scaled.py
import jax
import jax.numpy as jnp


def standardise(table):
    centered = table - table.mean(axis=0)
    spread = table.std(axis=0)
    return centered / jnp.where(spread == 0.0, 1.0, spread)


@jax.jit
def similarity(table):
    z = standardise(table)
    return (z @ z.T).mean()


# the second sensor is stuck
table = jnp.array([[1.0, 5.0, 0.2], [2.0, 5.0, 0.1], [4.0, 5.0, 0.7]])
print(round(float(jnp.abs(similarity(table))), 3), standardise(table)[0, 1] == 0.0)
