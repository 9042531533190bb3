# error: TypeError
# line: 22
# depends: -
# fix: any
# result: price [0.8700000047683716, 3.0999999046325684, 7.519999980926514, 14.119999885559082, 22.350000381469727] ; delta [0.13199999928474426, 0.32600000500679016, 0.5580000281333923, 0.753000020980835, 0.8800000548362732] ; bond -236.2

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
delta = jax.grad(call_price)(spots, *market)
print("price", prices.round(2).tolist())
print("delta", delta.round(3).tolist())
hedged = prices - delta * spots
print("bond", round(float(hedged.sum()), 1))
