# One correct fixed version of vmap_out_axes_none.py
"""Monte Carlo portfolio value at risk with a per-path vmap."""
import jax
import jax.numpy as jnp


def simulate(key, weights, mu, chol):
    shocks = chol @ jax.random.normal(key, mu.shape)
    returns = mu + shocks
    pnl = weights @ returns
    return pnl, jnp.sum(weights * mu)


def value_at_risk(key, weights, mu, cov, paths=2000, level=0.95):
    chol = jnp.linalg.cholesky(cov)
    keys = jax.random.split(key, paths)
    run = jax.vmap(simulate, in_axes=(0, None, None, None), out_axes=(0, None))
    pnl, expected = run(keys, weights, mu, chol)
    return -jnp.quantile(pnl, 1 - level), expected


weights = jnp.array([0.5, 0.3, 0.2])
mu = jnp.array([0.001, 0.0005, 0.0002])
cov = jnp.array([[4e-4, 1e-4, 0.0], [1e-4, 2e-4, 5e-5], [0.0, 5e-5, 1e-4]])
var, expected = value_at_risk(jax.random.key(5), weights, mu, cov)
print("VaR", round(float(var), 3))
print("mean", round(float(expected), 5))
