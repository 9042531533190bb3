import jax
import jax.numpy as jnp


def tf_idf(tokens, idf):
    ids, counts = jnp.unique(tokens, return_counts=True)
    return jnp.sum(counts * idf[ids]) / tokens.shape[0]


idf = jnp.array([0.1, 1.0, 2.0, 3.0])
print(round(float(tf_idf(jnp.array([1, 1, 3, 0]), idf)), 3))
