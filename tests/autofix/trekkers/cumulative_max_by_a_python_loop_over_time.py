# error: TracerBoolConversionError
# line: 16
# depends: prices
# fix: any
# result: 0.25

import jax
import jax.numpy as jnp


@jax.jit
def max_drawdown(prices):
    peak = prices[0]
    worst = 0.0
    for price in prices:
        if price > peak:
            peak = price
        drop = (peak - price) / peak
        worst = jnp.maximum(worst, drop)
    return worst


print(round(float(max_drawdown(jnp.array([100.0, 120.0, 90.0, 130.0, 104.0]))), 3))
