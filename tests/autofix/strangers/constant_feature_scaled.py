# error: none
# expect: NaNWarning
# jax-differs: jax silently divides 0 by 0
# line: 17
# depends: table
# fix: guard_division
# fixed-file: fixed/constant_feature_scaled.py
# result: 0.0 True
# family: 2/nan-in-forward

import jax
import jax.numpy as jnp


def standardise(table):
    centered = table - table.mean(axis=0)
    return centered / table.std(axis=0)


@jax.jit
def similarity(table):
    z = standardise(table)
    return (z @ z.T).mean()


# the second sensor is stuck
table = jnp.array([[1.0, 5.0, 0.2], [2.0, 5.0, 0.1], [4.0, 5.0, 0.7]])
print(round(float(jnp.abs(similarity(table))), 3), standardise(table)[0, 1] == 0.0)
