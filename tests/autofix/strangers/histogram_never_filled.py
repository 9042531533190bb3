# error: none
# expect: UnusedResultWarning
# jax-differs: jax silently drops the updated array
# line: 23
# depends: -
# fix: assign_result
# fixed-file: fixed/histogram_never_filled.py
# result: [0.125, 0.375, 0.375, 0.125]
# family: 2/result-thrown-away

import jax
import jax.numpy as jnp


def bin_index(energies, edges):
    return jnp.clip(jnp.searchsorted(edges, energies) - 1, 0, edges.shape[0] - 2)


@jax.jit
def histogram(energies, weights, edges):
    counts = jnp.zeros(edges.shape[0] - 1)
    where = bin_index(energies, edges)
    counts.at[where].add(weights)
    return counts / weights.sum()


edges = jnp.linspace(0.0, 4.0, 5)
energies = jnp.array([0.5, 1.5, 1.7, 3.2, 2.2])
weights = jnp.array([1.0, 2.0, 1.0, 1.0, 3.0])
print([round(float(v), 4) for v in histogram(energies, weights, edges)])
