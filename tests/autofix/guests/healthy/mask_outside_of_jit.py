import jax
import jax.numpy as jnp


@jax.jit
def log_returns(prices):
    return jnp.diff(jnp.log(prices))


prices = jnp.array([100.0, jnp.nan, 102.0, 101.0, jnp.nan, 105.0])
clean = prices[~jnp.isnan(prices)]
returns = log_returns(clean)
losses = returns[returns < 0.0]
print(clean.shape, losses.shape, round(float(losses.sum()), 5))
