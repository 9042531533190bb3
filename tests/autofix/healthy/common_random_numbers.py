"""Monte Carlo delta with common random numbers."""

import math

import jax
import jax.numpy as jnp


def payoff(key, spot, strike=100.0, rate=0.02, vol=0.25, t=1.0, n=40000):
    z = jax.random.normal(key, (n,))
    terminal = spot * jnp.exp((rate - 0.5 * vol**2) * t + vol * math.sqrt(t) * z)
    return math.exp(-rate * t) * jnp.maximum(terminal - strike, 0.0).mean()


def delta_bump(key, spot, h=0.5):
    price = jax.jit(payoff)
    up = price(key, spot + h)
    down = price(key, spot - h)
    return (up - down) / (2 * h)


def delta_exact(spot, strike=100.0, rate=0.02, vol=0.25, t=1.0):
    d1 = (math.log(spot / strike) + (rate + 0.5 * vol**2) * t) / (vol * math.sqrt(t))
    return 0.5 * (1 + math.erf(d1 / math.sqrt(2)))


key = jax.random.PRNGKey(12)
estimate = float(delta_bump(key, 105.0))
print("close", abs(estimate - delta_exact(105.0)) < 0.02)
