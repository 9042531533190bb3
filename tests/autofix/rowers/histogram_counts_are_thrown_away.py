# error: none
# expect: UnusedResultWarning
# line: 21
# depends: -
# fix: any
# result: [2.0, 2.0, 3.0, 4.0, 1.0] ; 12.0

import jax
import jax.numpy as jnp

BINS = 5
values = jnp.array([0.03, 0.22, 0.41, 0.44, 0.59, 0.61, 0.78, 0.97, 0.12, 0.45])
weights = jnp.array([1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 3.0, 1.0, 1.0, 0.5])


@jax.jit
def weighted_histogram(values, weights):
    bin_of = jnp.clip((values * BINS).astype(jnp.int32), 0, BINS - 1)

    def deposit(i, counts):
        counts.at[bin_of[i]].add(weights[i])
        return counts

    return jax.lax.fori_loop(0, values.shape[0], deposit, jnp.zeros(BINS))


counts = weighted_histogram(values, weights)
print(counts.tolist())
print(float(counts.sum()))
