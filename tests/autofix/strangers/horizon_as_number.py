# error: ConcretizationTypeError
# expect: TypeError | ConcretizationTypeError | TracerIntegerConversionError
# line: 25
# depends: horizon
# fix: static_argument
# trap: jnp.arange(4) is right for a horizon of 4 only
# probe: abs(float(forecast(jnp.array([1.0, 2.0]), 6).sum()) - 33.0) < 1e-3
# fixed-file: fixed/horizon_as_number.py
# result: [6.3, 7.4, 8.5, 9.6]
# family: 1/static-value-of-these-data

import jax
import jax.numpy as jnp


def trend(series):
    steps = jnp.arange(series.shape[0], dtype=jnp.float32)
    slope, level = jnp.polyfit(steps, series, 1)
    return level, slope


@jax.jit
def forecast(series, horizon):
    level, slope = trend(series)
    ahead = series.shape[0] + jnp.arange(horizon)
    return level + slope * ahead


series = jnp.array([1.0, 2.0, 2.5, 4.0, 5.5])
print([round(float(v), 3) for v in forecast(series, 4)])
