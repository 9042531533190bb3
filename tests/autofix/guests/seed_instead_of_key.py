# error: TypeError
# line: 13
# depends: -
# fix: make_key
# fixed-file: fixed/seed_instead_of_key.py
# result: (10, 4) 1.0

import jax
import jax.numpy as jnp


def init_embedding(seed, vocab, dim):
    table = jax.random.normal(seed, (vocab, dim))
    return table / jnp.linalg.norm(table, axis=1, keepdims=True)


def similarity(table, i, j):
    return jnp.dot(table[i], table[j])


table = init_embedding(42, vocab=10, dim=4)
print(table.shape, round(float(similarity(table, 3, 3)), 4))
