# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jnp.take fills out-of-bounds rows with nan
# line: 37
# depends: ids
# fix: index_mode
# fixed-file: fixed/oov_embedding_take.py
# result: [1.0, -0.241, 0.965] ; [-0.241, 1.0, 0.024] ; [0.965, 0.024, 1.0]

"""Sentence similarity with hashed word vectors."""
import jax
import jax.numpy as jnp

VOCAB_SIZE = 16
DIM = 6


class Vocabulary:
    def __init__(self, limit):
        self.limit = limit
        self.ids = {}

    def __getitem__(self, word):
        return self.ids.setdefault(word, len(self.ids))

    def encode(self, text, width=8):
        ids = [self[w] for w in text.lower().split()][:width]
        mask = [1.0] * len(ids) + [0.0] * (width - len(ids))
        return jnp.array(ids + [0] * (width - len(ids))), jnp.array(mask)


TABLE = jnp.sin(jnp.arange(VOCAB_SIZE * DIM, dtype=jnp.float32) * 1.7).reshape(VOCAB_SIZE, DIM)


@jax.jit
def sentence_vector(ids, mask):
    vectors = jnp.take(TABLE, ids, axis=0)
    return jnp.sum(vectors * mask[:, None], axis=0) / mask.sum()


def cosine(a, b):
    return jnp.vdot(a, b) / (jnp.linalg.norm(a) * jnp.linalg.norm(b))


sentences = [
    "The trains to the coast run every hour",
    "Buses to the coast run twice a day",
    "My garden needs rain before the summer",
]
vocab = Vocabulary(VOCAB_SIZE)
vectors = [sentence_vector(*vocab.encode(s)) for s in sentences]
for i in range(3):
    print([round(float(cosine(vectors[i], v)), 3) for v in vectors])
