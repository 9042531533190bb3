# One correct fixed version of bool_accept_metropolis.py
import jax
import jax.numpy as jnp


def log_density(x):
    return -0.5 * jnp.sum((x - 1.0) ** 2)


def metropolis(carry, key):
    x, logp, accepted = carry
    k_move, k_accept = jax.random.split(key)
    proposal = x + 0.8 * jax.random.normal(k_move, x.shape)
    logq = log_density(proposal)
    accept = jnp.log(jax.random.uniform(k_accept)) < logq - logp
    x = jnp.where(accept, proposal, x)
    logp = jnp.where(accept, logq, logp)
    return (x, logp, accepted + accept), x


def sample(key, start, n):
    init = (start, log_density(start), 0)
    (_, _, accepted), draws = jax.lax.scan(metropolis, init, jax.random.split(key, n))
    return draws, accepted


draws, accepted = sample(jax.random.key(3), jnp.zeros(2), 500)
print(draws.shape, bool(0.2 < accepted / 500 < 0.9), bool(abs(draws.mean() - 1.0) < 0.3))
