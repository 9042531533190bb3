# error: NonConcreteBooleanIndexError
# line: 19
# depends: returns
# fix: where_mask_sum
# fixed-file: fixed/mask_expected_shortfall.py
# result: 0.02

import jax
import jax.numpy as jnp


def portfolio_returns(weights, history):
    return history @ weights


@jax.jit
def expected_shortfall(returns):
    var = jnp.quantile(returns, 0.25)
    tail = returns[returns <= var]
    return -tail.mean()


history = jnp.array([
    [0.01, 0.02], [-0.03, 0.01], [0.02, -0.05], [0.00, 0.01],
    [-0.02, -0.01], [0.03, 0.02], [0.01, -0.02], [-0.04, 0.00],
])
returns = portfolio_returns(jnp.array([0.6, 0.4]), history)
print(round(float(expected_shortfall(returns)), 5))
