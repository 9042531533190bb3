# error: ConcretizationTypeError
# line: 14
# depends: n_bins
# fix: static_args
# fixed-file: fixed/conc_linspace_knots.py
# result: [1, 2, 2, 1] 0.25

import jax
import jax.numpy as jnp


@jax.jit
def histogram(samples, low, high, n_bins):
    edges = jnp.linspace(low, high, n_bins + 1)
    inside = (samples[:, None] >= edges[:-1]) & (samples[:, None] < edges[1:])
    return inside.sum(axis=0), edges


samples = jnp.array([0.1, 0.4, 0.45, 0.7, 0.71, 0.95])
counts, edges = histogram(samples, 0.0, 1.0, 4)
print([int(c) for c in counts], round(float(edges[1]), 3))
