# One correct fixed version of inner_static_from_outer.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="lags")
def autocovariances(series, lags):
    x = series - series.mean()
    return jnp.stack([jnp.mean(x[k:] * x[: len(x) - k]) for k in range(lags)])


@partial(jax.jit, static_argnames="lags")
def long_run_variance(series, lags):
    """Newey and West's estimate with Bartlett's weights."""
    c = autocovariances(series, lags=lags)
    weights = 1.0 - jnp.arange(len(c)) / len(c)
    return c[0] + 2.0 * jnp.sum(weights[1:] * c[1:])


series = jnp.sin(0.5 * jnp.arange(50.0)) + 0.1 * jnp.cos(2.0 * jnp.arange(50.0))
print(round(float(long_run_variance(series, 4)), 4))
