# error: ValueError
# line: 17
# depends: -
# fix: any
# result: True ; 0.6 (4000, 2)

import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum((x - 1.0) ** 2)


def metropolis(x, key):
    keys = jax.random.split(key)
    proposal = x + 0.8 * jax.random.normal(keys, x.shape)
    log_ratio = log_density(proposal) - log_density(x)
    accept = jnp.log(jax.random.uniform(keys[1])) < log_ratio
    x = jnp.where(accept, proposal, x)
    return x, (x, accept)


keys = jax.random.split(jax.random.key(0), 4000)
_, (chain, accepted) = jax.lax.scan(metropolis, jnp.zeros(2), keys)
print(bool(jnp.all(jnp.abs(chain[500:].mean(axis=0) - 1.0) < 0.25)))
print(round(float(accepted.mean()), 1), chain.shape)
