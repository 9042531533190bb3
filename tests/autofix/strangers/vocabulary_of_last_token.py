# error: none
# expect: NaNWarning | OutOfBoundsIndexWarning
# jax-differs: jax silently fills rows that are out of range with nan
# line: 19
# depends: tokens
# fix: index_range
# fixed-file: fixed/vocabulary_of_last_token.py
# result: [0.3667, 0.4667]
# family: 2/nan-in-forward

import jax
import jax.numpy as jnp

# the vocabulary has the tokens 1 to 4
EMBEDDING = jnp.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]])


def embed(tokens):
    return jnp.take(EMBEDDING, tokens, axis=0)


@jax.jit
def encode(tokens):
    vectors = embed(tokens)
    weights = jax.nn.softmax(vectors @ jnp.array([1.0, -1.0]))
    return (weights[:, None] * vectors).sum(axis=0)


print([round(float(v), 4) for v in encode(jnp.array([1, 4, 2]))])
