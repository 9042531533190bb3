# error: none
# expect: KeyReuseError
# jax-differs: jax silently draws from a key that was split
# line: 24
# also-line: 23
# depends: -
# fix: use_subkey
# fixed-file: fixed/subkey_never_used.py
# result: (200, 2) True
# family: 2/unused-subkey

import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum(x**2)


@jax.jit
def metropolis(key, x):
    key, subkey = jax.random.split(key)
    proposal = x + 0.5 * jax.random.normal(key, x.shape)
    key, subkey = jax.random.split(key)
    accept = jnp.log(jax.random.uniform(subkey)) < log_density(proposal) - log_density(x)
    return key, jnp.where(accept, proposal, x)


key = jax.random.key(0)
x = jnp.ones(2)
chain = []
for _ in range(200):
    key, x = metropolis(key, x)
    chain.append(x)
print(jnp.stack(chain).shape, bool(jnp.abs(jnp.stack(chain).mean()) < 0.6))
