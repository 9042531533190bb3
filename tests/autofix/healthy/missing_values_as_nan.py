import jax
import jax.numpy as jnp
import numpy as np

table = np.array([[1.0, np.nan, 3.0], [2.0, 5.0, np.nan], [4.0, 7.0, 9.0]], dtype=np.float32)


@jax.jit
def impute(table):
    missing = jnp.isnan(table)
    known = jnp.where(missing, 0.0, table)
    count = (~missing).sum(axis=0)
    mean = known.sum(axis=0) / count
    return jnp.where(missing, mean, table)


@jax.jit
def correlation(table):
    centered = table - table.mean(axis=0)
    scale = jnp.sqrt((centered**2).sum(axis=0))
    return (centered.T @ centered) / jnp.outer(scale, scale)


full = impute(table)
print(full.tolist())
print(correlation(full).shape, bool(jnp.all(jnp.isfinite(full))))
