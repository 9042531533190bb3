# error: none
# expect: DtypeTruncationWarning
# jax-differs: jax silently makes the pseudocounts zero
# line: 18
# depends: -
# fix: dtype
# fixed-file: fixed/half_counts_like_integers.py
# result: [0.6781, 4.585]
# family: silent/dtype-full-like

import jax
import jax.numpy as jnp


@jax.jit
def smoothed_shares(counts):
    """Shares with half a count for what was never seen."""
    prior = jnp.full_like(counts, 0.5)
    return (counts + prior) / jnp.sum(counts + prior)


@jax.jit
def surprise(counts, seen):
    return -jnp.log2(smoothed_shares(counts))[seen]


counts = jnp.array([7, 0, 2, 1])
print([round(float(s), 4) for s in surprise(counts, jnp.array([0, 1]))])
