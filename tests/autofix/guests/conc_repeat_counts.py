# error: ConcretizationTypeError
# line: 14
# depends: counts
# fix: size_arg
# fixed-file: fixed/conc_repeat_counts.py
# result: 10.0

import jax
import jax.numpy as jnp


@jax.jit
def expand_by_counts(values, counts):
    return jnp.repeat(values, counts)


def weighted_median(values, counts):
    order = jnp.argsort(values)
    expanded = expand_by_counts(values[order], counts[order])
    return jnp.median(expanded)


prices = jnp.array([10.0, 12.5, 9.0, 11.0])
volumes = jnp.array([1, 2, 3, 1])
print(round(float(weighted_median(prices, volumes)), 3))
