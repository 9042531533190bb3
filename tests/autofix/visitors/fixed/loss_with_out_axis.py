# One correct fixed version of loss_with_out_axis.py
import jax
import jax.numpy as jnp

# one row per sensor, one column per time
readings = jnp.sin(jnp.arange(24.0)).reshape(4, 6)


def lag_one(series):
    a, b = series[1:] - series.mean(), series[:-1] - series.mean()
    return jnp.sum(a * b) / jnp.sum((series - series.mean()) ** 2)


correlations = jax.vmap(lag_one, in_axes=1)
print([round(float(r), 4) for r in correlations(readings)])
