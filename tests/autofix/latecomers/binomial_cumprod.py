# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax wraps the int32 product
# line: 21
# depends: n
# fix: wider_dtype
# fixed-file: fixed/binomial_cumprod.py
# result: [0.0839, 0.3497, 0.3996, 0.1499, 0.0167, 0.0003] ; total 1.0

"""Probability that at least one pair in a lottery wheel matches."""
from functools import partial

import jax
import jax.numpy as jnp

LIMIT = 20


@jax.jit
def factorial(n):
    table = jnp.cumprod(jnp.where(jnp.arange(LIMIT) < n, jnp.arange(1, LIMIT + 1), 1))
    return table[-1]


def choose(n, k):
    return factorial(n) / (factorial(k) * factorial(n - k))


def hypergeometric(k, good, total, drawn):
    ways = choose(good, k) * choose(total - good, drawn - k)
    return ways / choose(total, drawn)


probs = [float(hypergeometric(k, 5, 15, 5)) for k in range(6)]
print([round(p, 4) for p in probs])
print("total", round(sum(probs), 3))
