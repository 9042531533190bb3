# One correct fixed version of option_cond_shapes.py
import jax
import jax.numpy as jnp
from jax.scipy.stats import norm


def d1_d2(spot, strike, rate, vol, t):
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * vol ** 2) * t) / (vol * jnp.sqrt(t))
    return d1, d1 - vol * jnp.sqrt(t)


def live(args):
    spot, strike, rate, vol, t = args
    d1, d2 = d1_d2(spot, strike, rate, vol, t)
    price = spot * norm.cdf(d1) - strike * jnp.exp(-rate * t) * norm.cdf(d2)
    return jnp.array([price, norm.cdf(d1)])


def expired(args):
    spot, strike, *_ = args
    return jnp.array([jnp.maximum(spot - strike, 0.0), jnp.where(spot > strike, 1.0, 0.0)])


@jax.jit
def call_price_delta(spot, strike, rate, vol, t):
    args = (spot, strike, rate, vol, t)
    return jax.lax.cond(t > 0.0, live, expired, args)


for t in (1.0, 0.25, 0.0):
    price, delta = call_price_delta(105.0, 100.0, 0.02, 0.2, t)
    print(t, round(float(price), 3), round(float(delta), 3))
