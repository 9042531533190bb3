# One correct fixed version of recompile_sentence_lengths.py
import jax
import jax.numpy as jnp

TABLE = jnp.arange(20.0).reshape(10, 2) / 10.0


@jax.jit
def sentence_vector(tokens, length):
    vectors = TABLE[tokens]
    real = jnp.arange(tokens.shape[0])[:, None] < length
    return jnp.where(real, jnp.tanh(vectors), 0.0).sum(axis=0) / length


corpus = [[1, 2], [3, 4, 5], [1], [2, 2, 2, 9], [7, 8, 9, 1, 2], [4, 4, 4, 4, 4, 4]]
total = jnp.zeros(2)
for sentence in corpus:
    padded = jnp.array(sentence + [0] * (6 - len(sentence)))
    total = total + sentence_vector(padded, len(sentence))
print([round(float(v), 4) for v in total])
