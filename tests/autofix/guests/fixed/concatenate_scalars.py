# One correct fixed version of concatenate_scalars.py
import jax
import jax.numpy as jnp


@jax.jit
def summary_features(series):
    lag = jnp.mean(series[1:] * series[:-1]) - jnp.mean(series) ** 2
    parts = [series.mean(), series.std(), lag, series[-1]]
    return jnp.stack(parts)


def feature_table(rows):
    return jnp.stack([summary_features(row) for row in rows])


rows = jnp.array([[1.0, 2.0, 3.0, 4.0], [2.0, 0.0, 2.0, 0.0]])
print([[round(float(v), 3) for v in row] for row in feature_table(rows)])
