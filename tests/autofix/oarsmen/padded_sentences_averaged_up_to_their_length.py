# error: TracerIntegerConversionError
# line: 27
# depends: length
# fix: any
# result: [0.42, -0.28, 0.75]

import jax
import jax.numpy as jnp

corpus = ["the cat sat", "a dog barked at the cat", "the dog"]
vocab = {w: i + 1 for i, w in enumerate(sorted({w for s in corpus for w in s.split()}))}
MAX_LEN = 8


def encode(sentence):
    ids = [vocab[w] for w in sentence.split()]
    return ids + [0] * (MAX_LEN - len(ids)), len(ids)


tokens, lengths = map(jnp.array, zip(*[encode(s) for s in corpus]))
table = jnp.sin(jnp.arange((len(vocab) + 1) * 4.0)).reshape(-1, 4)


def sentence_vector(table, ids, length):
    """Mean of the word vectors, without the padding."""
    total = jnp.zeros(table.shape[1])
    for t in range(length):
        total = total + table[ids[t]]
    return total / length


@jax.jit
def similarity(table, tokens, lengths):
    vecs = jax.vmap(sentence_vector, in_axes=(None, 0, 0))(table, tokens, lengths)
    vecs = vecs / jnp.linalg.norm(vecs, axis=1, keepdims=True)
    return vecs @ vecs.T


S = similarity(table, tokens, lengths)
print([round(float(S[i, j]), 2) for i, j in [(0, 1), (0, 2), (1, 2)]])
