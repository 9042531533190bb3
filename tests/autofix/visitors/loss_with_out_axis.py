# error: ValueError
# line: 23
# also-line: 22
# depends: -
# fix: out_axes
# fixed-file: fixed/loss_with_out_axis.py
# result: [0.2523, 0.2506, -0.2494, 0.2507, 0.2522, 0.021]
# family: in_axes/out-axes

import jax
import jax.numpy as jnp

# one row per sensor, one column per time
readings = jnp.sin(jnp.arange(24.0)).reshape(4, 6)


def lag_one(series):
    a, b = series[1:] - series.mean(), series[:-1] - series.mean()
    return jnp.sum(a * b) / jnp.sum((series - series.mean()) ** 2)


correlations = jax.vmap(lag_one, in_axes=1, out_axes=1)
print([round(float(r), 4) for r in correlations(readings)])
