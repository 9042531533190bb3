# One correct fixed version of accept_or_reject_values.py
import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum(x**2)


@jax.jit
def metropolis(x, key):
    key_move, key_accept = jax.random.split(key)
    proposal = x + 0.8 * jax.random.normal(key_move, x.shape)
    log_ratio = log_density(proposal) - log_density(x)
    accept = jnp.log(jax.random.uniform(key_accept)) < log_ratio
    return jnp.where(accept, proposal, x)


x = jnp.array([3.0, -3.0])
for key in jax.random.split(jax.random.key(5), 50):
    x = metropolis(x, key)
print(bool(jnp.all(jnp.abs(x) < 3.0)), x.shape)
