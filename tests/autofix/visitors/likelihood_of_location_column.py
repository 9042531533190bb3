# error: none
# expect: BroadcastWarning
# jax-differs: jax silently sums over all pairs of observation and location
# line: 23
# also-line: 22
# depends: -
# fix: squeeze_axis
# fixed-file: fixed/likelihood_of_location_column.py
# result: 0.2837
# family: silent/broadcast-likelihood

import jax
import jax.numpy as jnp
from jax.scipy import stats

X = jnp.stack([jnp.ones(7), jnp.linspace(-1.0, 1.0, 7)], axis=1)
y = jnp.array([-0.9, -0.2, 0.1, 0.6, 0.8, 1.5, 1.9])


@jax.jit
def log_likelihood(beta, log_sigma):
    location = X @ beta[:, None]
    return jnp.sum(stats.norm.logpdf(y, location, jnp.exp(log_sigma)))


beta, *_ = jnp.linalg.lstsq(X, y)
print(round(float(log_likelihood(beta, -1.0)), 4))
