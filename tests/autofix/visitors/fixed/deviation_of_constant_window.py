# One correct fixed version of deviation_of_constant_window.py
import jax
import jax.numpy as jnp

returns = jnp.array([[0.01, 0.03, -0.02], [0.01, -0.01, 0.02], [0.01, 0.02, 0.01]])


def sharpe(weights):
    portfolio = returns @ weights
    return portfolio.mean() / jnp.sqrt(jnp.var(portfolio) + 1e-6)


# everything in cash at first: the returns of the portfolio are constant
weights = jnp.array([1.0, 0.0, 0.0])
for _ in range(50):
    slope = jax.grad(sharpe)(weights)
    weights = weights + 0.01 * (slope - slope.mean())
print(bool(jnp.all(jnp.isfinite(weights))), round(float(weights.sum()), 3))
