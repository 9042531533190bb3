# One correct fixed version of sequences_of_each_length.py
import jax
import jax.numpy as jnp
import numpy as np

sentences = [np.arange(1, n + 1) % 7 for n in (3, 5, 2, 8, 4, 6, 7, 9)]
embedding = jnp.sin(jnp.arange(21.0)).reshape(7, 3)


@jax.jit
def encode(tokens, length):
    valid = jnp.arange(tokens.shape[0]) < length
    return jnp.mean(embedding[tokens], axis=0, where=valid[:, None])


total = jnp.zeros(3)
for tokens in sentences:
    padded = np.pad(tokens, (0, 9 - len(tokens)))
    total = total + encode(padded, len(tokens))
print([round(float(v), 4) for v in total])
