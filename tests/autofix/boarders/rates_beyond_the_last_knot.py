# error: none
# expect: OutOfBoundsIndexWarning | IndexError | NaNWarning | FloatingPointError
# jax-differs: the index is clamped
# line: 21
# also-line: 19 | 20 | 22
# depends: -
# fix: any
# result: [1.100000023841858, 1.350000023841858, 1.8000000715255737, 2.5]

import jax
import jax.numpy as jnp

knots = jnp.array([0.0, 0.5, 1.0, 2.0, 5.0])
rates = jnp.array([0.010, 0.012, 0.015, 0.021, 0.027])


@jax.jit
def zero_rate(t):
    left = jnp.searchsorted(knots, t)
    right = left + 1
    share = (t - knots[left]) / (knots[right] - knots[left])
    return rates[left] + share * (rates[right] - rates[left])


maturities = jnp.array([0.25, 0.75, 1.5, 4.0])
print((100 * jax.vmap(zero_rate)(maturities)).round(3).tolist())
