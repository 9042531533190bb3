# One correct fixed version of ragged_token_batches.py
import jax
import jax.numpy as jnp
import numpy as np

SENTENCES = [
    "the cat sat on the mat",
    "a dog",
    "jax compiles programs",
    "the quick brown fox jumps over the lazy dog again",
    "hello there you two",
    "one two three four five",
    "so",
    "what a very long day it was",
]
VOCAB = {w: i + 1 for i, w in enumerate(sorted({w for s in SENTENCES for w in s.split()}))}
TABLE = jnp.sin(jnp.arange((len(VOCAB) + 1) * 4.0)).reshape(-1, 4)


def encode(sentence):
    words = sentence.split()
    width = max(len(s.split()) for s in SENTENCES)
    ids = np.zeros((1, width), dtype=np.int32)
    ids[0, :len(words)] = [VOCAB[w] for w in words]
    return jnp.asarray(ids)


@jax.jit
def embed(ids):
    mask = (ids > 0)[..., None]
    total = jnp.sum(TABLE[ids] * mask, axis=1)
    return total / mask.sum(axis=1)


vectors = jnp.concatenate([embed(encode(s)) for s in SENTENCES])
print(vectors.shape, round(float(jnp.abs(vectors).sum()), 3))
