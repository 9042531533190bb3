# error: none
# expect: none
# result: [2.0, 3.0, 5.0] ; [0.25, 0.25, 0.25] ; cov finite True

import jax
import jax.numpy as jnp

NA = float("nan")


@jax.jit
def impute(table):
    centre = jnp.nanmedian(table, axis=0)
    return jnp.where(jnp.isnan(table), centre, table), centre


@jax.jit
def missing_rate(table):
    return jnp.mean(jnp.isnan(table), axis=0)


def covariance(full):
    centred = full - full.mean(axis=0)
    return centred.T @ centred / (full.shape[0] - 1)


table = jnp.array([
    [1.0, NA, 5.0],
    [2.0, 3.0, NA],
    [NA, 3.0, 4.0],
    [4.0, 2.0, 6.0],
])
full, centre = impute(table)
print([float(c) for c in centre])
print([float(r) for r in missing_rate(table)])
print("cov finite", bool(jnp.isfinite(covariance(full)).all()))
