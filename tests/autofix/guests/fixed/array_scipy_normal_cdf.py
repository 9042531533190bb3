# One correct fixed version of array_scipy_normal_cdf.py
import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr


def call_price(spot, strike, vol, years, rate):
    total_vol = vol * jnp.sqrt(years)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * vol**2) * years) / total_vol
    d2 = d1 - total_vol
    return spot * ndtr(d1) - strike * jnp.exp(-rate * years) * ndtr(d2)


delta = jax.grad(call_price)
for spot in (80.0, 100.0, 120.0):
    print(round(float(delta(spot, 100.0, 0.2, 1.0, 0.05)), 4))
