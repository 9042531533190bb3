# error: TracerArrayConversionError
# line: 14
# depends: table
# fix: any
# result: {'load': 2, 'temp': 1} 21.0

import jax
import jax.numpy as jnp
import numpy as np


def mad(x):
    """Median absolute deviation, scaled to a standard deviation."""
    center = np.median(x)
    return center, 1.4826 * jnp.median(jnp.abs(x - center))


def winsorize(x, cutoff):
    center, scale = mad(x)
    z = (x - center) / (scale + 1e-9)
    return center + scale * jnp.clip(z, -cutoff, cutoff), jnp.abs(z) > cutoff


@jax.jit
def clean_table(table, cutoff=3.0):
    cleaned, flags = {}, {}
    for name, column in table.items():
        cleaned[name], flags[name] = winsorize(column, cutoff)
    return cleaned, jax.tree.map(jnp.sum, flags)


table = {
    "temp": jnp.array([20.1, 19.8, 20.4, 55.0, 20.0, 19.9, 20.2]),
    "load": jnp.array([0.4, 0.5, 0.45, 0.42, -7.0, 0.48, 9.0]),
}
cleaned, flagged = clean_table(table)
print({k: int(v) for k, v in flagged.items()}, round(float(cleaned["temp"].max()), 1))
