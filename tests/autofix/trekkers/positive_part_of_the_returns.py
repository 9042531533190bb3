# error: NonConcreteBooleanIndexError
# line: 13
# depends: returns
# fix: any
# result: 3.333

import jax
import jax.numpy as jnp


@jax.jit
def profit_factor(returns):
    gains = returns[returns > 0]
    losses = returns[returns < 0]
    return gains.sum() / -losses.sum()


returns = jnp.array([0.02, -0.01, 0.03, -0.005, 0.0])
print(round(float(profit_factor(returns)), 3))
