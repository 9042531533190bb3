import jax
import jax.numpy as jnp


@jax.jit
def profit_factor(returns):
    gains = jnp.where(returns > 0, returns, 0.0)
    losses = jnp.where(returns < 0, returns, 0.0)
    return gains.sum() / -losses.sum()


returns = jnp.array([0.02, -0.01, 0.03, -0.005, 0.0])
print(round(float(profit_factor(returns)), 3))
