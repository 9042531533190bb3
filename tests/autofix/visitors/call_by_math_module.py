# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TypeError
# line: 22
# depends: spot
# fix: jnp_function
# fixed-file: fixed/call_by_math_module.py
# result: 0.6929 ; [0.4048, 0.8806]
# family: concretization/math-module

import math

import jax
import jax.numpy as jnp


def normal_cdf(z):
    return 0.5 * (1.0 + jax.lax.erf(z / math.sqrt(2.0)))


def call_price(spot, strike, volatility, years, rate):
    drift = (rate + 0.5 * volatility**2) * years
    d1 = (math.log(spot / strike) + drift) / (volatility * math.sqrt(years))
    d2 = d1 - volatility * math.sqrt(years)
    return spot * normal_cdf(d1) - strike * math.exp(-rate * years) * normal_cdf(d2)


delta = jax.grad(call_price)
print(round(float(delta(100.0, 95.0, 0.2, 0.5, 0.02)), 4))
deltas = jax.vmap(lambda s: delta(s, 95.0, 0.2, 0.5, 0.02))(jnp.array([90.0, 110.0]))
print([round(float(d), 4) for d in deltas])
