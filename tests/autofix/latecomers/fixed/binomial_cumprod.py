# One correct fixed version of binomial_cumprod.py
"""Probability that at least one pair in a lottery wheel matches."""
from functools import partial

import jax
import jax.numpy as jnp

LIMIT = 20


@jax.jit
def factorial(n):
    table = jnp.cumprod(jnp.where(jnp.arange(LIMIT) < n, jnp.arange(1.0, LIMIT + 1), 1.0))
    return table[-1]


def choose(n, k):
    return factorial(n) / (factorial(k) * factorial(n - k))


def hypergeometric(k, good, total, drawn):
    ways = choose(good, k) * choose(total - good, drawn - k)
    return ways / choose(total, drawn)


probs = [float(hypergeometric(k, 5, 15, 5)) for k in range(6)]
print([round(p, 4) for p in probs])
print("total", round(sum(probs), 3))
