# One correct fixed version of seed_instead_of_key.py
import jax
import jax.numpy as jnp


def init_embedding(seed, vocab, dim):
    table = jax.random.normal(jax.random.key(seed), (vocab, dim))
    return table / jnp.linalg.norm(table, axis=1, keepdims=True)


def similarity(table, i, j):
    return jnp.dot(table[i], table[j])


table = init_embedding(42, vocab=10, dim=4)
print(table.shape, round(float(similarity(table, 3, 3)), 4))
