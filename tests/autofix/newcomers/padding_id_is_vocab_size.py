# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently reads the last word for the padding
# line: 24
# depends: ids
# fix: index_mode
# result: [[11.0, 10.0, 10.0], [1.0, 1.0, 1.0]]

import jax
import jax.numpy as jnp


class Vocab:
    def __init__(self, words):
        self.ids = {w: i for i, w in enumerate(words)}
        self.pad = len(self.ids)

    def encode(self, text, length):
        ids = [self.ids[w] for w in text.split()]
        return ids + [self.pad] * (length - len(ids))


def bag_of_words(embedding, ids):
    return jnp.sum(embedding[ids], axis=0)


vocab = Vocab(["red", "green", "blue", "light"])
embedding = jnp.zeros((4, 3)).at[:3].set(jnp.eye(3)).at[3].set(10.0)
ids = jnp.array([vocab.encode("red light", 4), vocab.encode("green blue red", 4)])
sentences = jax.vmap(bag_of_words, in_axes=(None, 0))(embedding, ids)
print(sentences.tolist())
