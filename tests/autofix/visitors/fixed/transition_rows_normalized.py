# One correct fixed version of transition_rows_normalized.py
import jax
import jax.numpy as jnp


@jax.jit
def stationary(counts):
    """Long-run shares of the states of a Markov chain, from counts of its transitions."""
    transition = counts / counts.sum(axis=1, keepdims=True)

    def advance(_, shares):
        shares = shares @ transition
        return shares / shares.sum()

    return jax.lax.fori_loop(0, 100, advance, jnp.full(len(counts), 1.0 / len(counts)))


counts = jnp.array([[8.0, 2.0, 0.0], [3.0, 30.0, 7.0], [0.0, 5.0, 5.0]])
print([round(float(v), 4) for v in stationary(counts)])
