# error: TracerBoolConversionError
# line: 17
# depends: theta
# fix: logical_ops
# fixed-file: fixed/bool_chained_prior.py
# result: 834.02 ; -inf

import jax
import jax.numpy as jnp

DAYS = jnp.array([0.0, 1.0, 2.0, 3.0])
COUNTS = jnp.array([100.0, 71.0, 52.0, 36.0])


def log_prior(theta):
    amplitude, decay = theta
    if 0.0 < decay < 2.0 and amplitude > 0.0:
        return -jnp.log(amplitude)
    return -jnp.inf


def log_likelihood(theta):
    amplitude, decay = theta
    mean = amplitude * jnp.exp(-decay * DAYS)
    return jnp.sum(COUNTS * jnp.log(mean) - mean)


@jax.jit
def log_posterior(theta):
    return log_prior(theta) + log_likelihood(theta)


print(round(float(log_posterior(jnp.array([100.0, 0.34]))), 2))
print(float(log_posterior(jnp.array([100.0, 3.0]))))
