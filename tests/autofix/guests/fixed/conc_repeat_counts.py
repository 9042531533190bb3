# One correct fixed version of conc_repeat_counts.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="total")
def expand_by_counts(values, counts, total):
    return jnp.repeat(values, counts, total_repeat_length=total)


def weighted_median(values, counts):
    order = jnp.argsort(values)
    expanded = expand_by_counts(values[order], counts[order], int(counts.sum()))
    return jnp.median(expanded)


prices = jnp.array([10.0, 12.5, 9.0, 11.0])
volumes = jnp.array([1, 2, 3, 1])
print(round(float(weighted_median(prices, volumes)), 3))
