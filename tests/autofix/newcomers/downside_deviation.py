# error: NonConcreteBooleanIndexError
# expect: NonConcreteBooleanIndexError | IndexError
# line: 15
# depends: weights, returns
# fix: where_mask_sum
# result: 0.392

import jax
import jax.numpy as jnp


def sortino(weights, returns, target=0.0):
    portfolio = returns @ weights
    excess = portfolio - target
    losses = excess[excess < 0]
    downside = jnp.sqrt(jnp.mean(losses**2))
    return excess.mean() / downside


returns = jnp.array(
    [[0.02, -0.01], [-0.03, 0.01], [0.01, 0.02], [-0.01, -0.02], [0.04, 0.00], [0.00, 0.03]]
)
w = jnp.array([0.5, 0.5])
ratio, sensitivity = jax.value_and_grad(sortino)(w, returns)
ratio = jax.jit(sortino)(w, returns)
print(round(float(ratio), 3))
