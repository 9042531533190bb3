# One correct fixed version of half_counts_like_integers.py
import jax
import jax.numpy as jnp


@jax.jit
def smoothed_shares(counts):
    """Shares with half a count for what was never seen."""
    prior = jnp.full_like(counts, 0.5, dtype=jnp.float32)
    return (counts + prior) / jnp.sum(counts + prior)


@jax.jit
def surprise(counts, seen):
    return -jnp.log2(smoothed_shares(counts))[seen]


counts = jnp.array([7, 0, 2, 1])
print([round(float(s), 4) for s in surprise(counts, jnp.array([0, 1]))])
