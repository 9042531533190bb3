# error: TypeError
# line: 16
# also-line: 20
# depends: -
# fix: return_value
# fixed-file: fixed/vmap_returns_string.py
# result: [1.0, 1.5, -1.0]

import jax
import jax.numpy as jnp


def fit_line(y):
    x = jnp.arange(y.shape[0], dtype=jnp.float32)
    slope = jnp.sum((x - x.mean()) * (y - y.mean())) / jnp.sum((x - x.mean()) ** 2)
    return {"slope": slope, "intercept": y.mean() - slope * x.mean(), "method": "ols"}


curves = jnp.array([[1.0, 2.0, 3.0], [2.0, 2.0, 5.0], [0.0, -1.0, -2.0]])
fits = jax.vmap(fit_line)(curves)
print([round(float(v), 3) for v in fits["slope"]])
