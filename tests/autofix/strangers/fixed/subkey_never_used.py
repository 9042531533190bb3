# One correct fixed version of subkey_never_used.py
import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum(x**2)


@jax.jit
def metropolis(key, x):
    key, subkey = jax.random.split(key)
    proposal = x + 0.5 * jax.random.normal(subkey, x.shape)
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
