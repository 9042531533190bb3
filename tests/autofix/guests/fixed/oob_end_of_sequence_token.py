# One correct fixed version of oob_end_of_sequence_token.py
import jax
import jax.numpy as jnp

VOCAB = {"<pad>": 0, "the": 1, "cat": 2, "sat": 3, "<eos>": 4}


def init_table(size, dim):
    return jnp.arange(float(size * dim)).reshape(size, dim)


@jax.jit
def encode(table, tokens):
    return table[tokens].sum(axis=0)


table = init_table(len(VOCAB), 2)
sentence = ["the", "cat", "sat", "<eos>"]
tokens = jnp.array([VOCAB[word] for word in sentence])
print(encode(table, tokens).tolist())
