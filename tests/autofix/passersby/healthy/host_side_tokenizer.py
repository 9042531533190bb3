# error: none
# expect: none
# result: (3, 6) [6, 2, 2] ; {'be': 3, 'or': 2, 'to': 2, 'else': 1, 'not': 1, 'quick': 1}

import jax
import jax.numpy as jnp
import numpy as np

CORPUS = ["to be or not to be", "be quick", "or else"]


def build_vocab(lines):
    counts = {}
    for line in lines:
        for word in line.split():
            counts[word] = counts.get(word, 0) + 1
    ranked = sorted(counts, key=lambda w: (-counts[w], w))
    return {w: i + 1 for i, w in enumerate(ranked)}


def to_matrix(lines, vocab, width):
    out = np.zeros((len(lines), width), dtype=np.int32)
    for i, line in enumerate(lines):
        ids = [vocab[w] for w in line.split()][:width]
        out[i, :len(ids)] = ids
    return out


@jax.jit
def bag(ids):
    onehot = jax.nn.one_hot(ids, 8)
    return jnp.where((ids > 0)[..., None], onehot, 0.0).sum(axis=1)


vocab = build_vocab(CORPUS)
ids = to_matrix(CORPUS, vocab, 6)
counts = bag(ids)
print(ids.shape, [int(c) for c in counts.sum(axis=1)])
print({w: int(counts[:, i].sum()) for w, i in vocab.items()})
