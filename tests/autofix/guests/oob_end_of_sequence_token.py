# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently reads the last row in place of the missing one
# line: 24
# also-line: 27
# depends: tokens
# fix: table_size
# fixed-file: fixed/oob_end_of_sequence_token.py
# result: [20.0, 24.0]
# also-result: [18.0, 22.0] | [nan, nan] | [12.0, 15.0]

import jax
import jax.numpy as jnp

VOCAB = {"<pad>": 0, "the": 1, "cat": 2, "sat": 3, "<eos>": 4}


def init_table(size, dim):
    return jnp.arange(float(size * dim)).reshape(size, dim)


@jax.jit
def encode(table, tokens):
    return table[tokens].sum(axis=0)


table = init_table(len(VOCAB) - 1, 2)
sentence = ["the", "cat", "sat", "<eos>"]
tokens = jnp.array([VOCAB[word] for word in sentence])
print(encode(table, tokens).tolist())
