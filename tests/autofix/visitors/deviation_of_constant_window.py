# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently returns nan gradients
# line: 20
# also-line: 26
# depends: weights
# fix: guard_sqrt
# fixed-file: fixed/deviation_of_constant_window.py
# result: True 1.0
# family: silent/nan-gradient-std

import jax
import jax.numpy as jnp

returns = jnp.array([[0.01, 0.03, -0.02], [0.01, -0.01, 0.02], [0.01, 0.02, 0.01]])


def sharpe(weights):
    portfolio = returns @ weights
    return portfolio.mean() / (jnp.std(portfolio) + 1e-3)


# everything in cash at first: the returns of the portfolio are constant
weights = jnp.array([1.0, 0.0, 0.0])
for _ in range(50):
    slope = jax.grad(sharpe)(weights)
    weights = weights + 0.01 * (slope - slope.mean())
print(bool(jnp.all(jnp.isfinite(weights))), round(float(weights.sum()), 3))
