import jax
import jax.numpy as jnp
from jax.scipy.stats import norm


def call_price(spot, strike, rate, sigma, expiry):
    vol = sigma * jnp.sqrt(expiry)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * sigma**2) * expiry) / vol
    d2 = d1 - vol
    return spot * norm.cdf(d1) - strike * jnp.exp(-rate * expiry) * norm.cdf(d2)


spots = jnp.array([80.0, 90.0, 100.0, 110.0, 120.0])
market = (100.0, 0.02, 0.25, 0.5)
prices = call_price(spots, *market)
delta = jax.vmap(jax.grad(call_price), in_axes=(0, None, None, None, None))(spots, *market)
print("price", prices.round(2).tolist())
print("delta", delta.round(3).tolist())
hedged = prices - delta * spots
print("bond", round(float(hedged.sum()), 1))
