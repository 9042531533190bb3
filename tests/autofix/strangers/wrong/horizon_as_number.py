# One wrong fix of horizon_as_number.py: jnp.arange(4) is right for a horizon of 4 only
import jax
import jax.numpy as jnp


def trend(series):
    steps = jnp.arange(series.shape[0], dtype=jnp.float32)
    slope, level = jnp.polyfit(steps, series, 1)
    return level, slope


@jax.jit
def forecast(series, horizon):
    level, slope = trend(series)
    ahead = series.shape[0] + jnp.arange(4)
    return level + slope * ahead


series = jnp.array([1.0, 2.0, 2.5, 4.0, 5.5])
print([round(float(v), 3) for v in forecast(series, 4)])
