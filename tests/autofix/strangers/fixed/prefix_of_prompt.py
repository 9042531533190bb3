# One correct fixed version of prefix_of_prompt.py
import jax
import jax.numpy as jnp

TABLE = jnp.linspace(-1.0, 1.0, 20).reshape(10, 2)


@jax.jit
def sentence_vector(tokens, length):
    """The mean embedding of the first tokens, the rest is padding."""
    used = jnp.arange(tokens.shape[0]) < length
    return jnp.where(used[:, None], TABLE[tokens], 0.0).sum(axis=0) / length


batch = [(jnp.array([3, 1, 4, 0, 0]), 3), (jnp.array([1, 5, 9, 2, 6]), 5)]
for tokens, length in batch:
    print([round(float(v), 4) for v in sentence_vector(tokens, length)])
