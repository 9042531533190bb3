# error: ValueError
# expect: ValueError | TypeError
# line: 17
# depends: -
# fix: stack
# fixed-file: fixed/concatenate_scalars.py
# result: [[2.5, 1.118, 0.417, 4.0], [1.0, 1.0, -1.0, 0.0]]

import jax
import jax.numpy as jnp


@jax.jit
def summary_features(series):
    lag = jnp.mean(series[1:] * series[:-1]) - jnp.mean(series) ** 2
    parts = [series.mean(), series.std(), lag, series[-1]]
    return jnp.concatenate(parts)


def feature_table(rows):
    return jnp.stack([summary_features(row) for row in rows])


rows = jnp.array([[1.0, 2.0, 3.0, 4.0], [2.0, 0.0, 2.0, 0.0]])
print([[round(float(v), 3) for v in row] for row in feature_table(rows)])
