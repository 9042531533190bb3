# error: none
# expect: OutOfBoundsIndexWarning
# line: 23
# depends: -
# fix: any
# result: 5 [0.25, -0.69, -0.62, 0.3, 0.7, 0.12]

import jax
import jax.numpy as jnp

MAX_LAG = 6


def detrend(x):
    t = jnp.arange(x.shape[0], dtype=x.dtype)
    slope = jnp.cov(t, x)[0, 1] / jnp.var(t, ddof=1)
    return x - x.mean() - slope * (t - t.mean())


def autocovariance(x, lag):
    """Sum over the pairs (x[t], x[t + lag]), divided by n."""
    n = x.shape[0]
    products = jax.vmap(lambda t: x[t] * x[t + lag])(jnp.arange(n))
    return jnp.sum(products) / n


@jax.jit
def acf(x):
    x = detrend(x)
    gamma = jnp.stack([autocovariance(x, lag) for lag in range(MAX_LAG + 1)])
    return gamma / gamma[0]


def first_period(rho):
    return int(jnp.argmax(rho[2:])) + 2


t = jnp.arange(20.0)
series = 10.0 + 0.3 * t + 2.0 * jnp.cos(2 * jnp.pi * t / 5) + jnp.where(t > 16, 1.5, 0.0)
rho = acf(series)
print(first_period(rho), [round(r, 2) for r in rho[1:].tolist()])
