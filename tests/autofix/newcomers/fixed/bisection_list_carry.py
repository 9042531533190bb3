import jax
import jax.numpy as jnp
from jax.scipy.stats import norm


def call_price(sigma, s=100.0, k=105.0, r=0.01, t=0.5):
    d1 = (jnp.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * jnp.sqrt(t))
    return s * norm.cdf(d1) - k * jnp.exp(-r * t) * norm.cdf(d1 - sigma * jnp.sqrt(t))


def implied_vol(price, lo=0.01, hi=2.0, tol=1e-5):
    def unfinished(bracket):
        lo, hi = bracket
        return hi - lo > tol

    def halve(bracket):
        lo, hi = bracket
        mid = 0.5 * (lo + hi)
        high = call_price(mid) > price
        return jnp.where(high, lo, mid), jnp.where(high, mid, hi)

    lo, hi = jax.lax.while_loop(unfinished, halve, (lo, hi))
    return 0.5 * (lo + hi)


print(round(float(implied_vol(call_price(0.3))), 3))
