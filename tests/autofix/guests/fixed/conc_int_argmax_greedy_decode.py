# One correct fixed version of conc_int_argmax_greedy_decode.py
import jax
import jax.numpy as jnp

BIGRAM = jnp.array([
    [0.1, 2.0, 0.3, 0.0],
    [0.2, 0.1, 1.5, 0.4],
    [0.1, 0.3, 0.2, 3.0],
    [1.0, 0.2, 0.1, 0.5],
])


@jax.jit
def decode(logits, length_bonus):
    tokens = []
    for _ in range(4):
        token = jnp.argmax(logits)
        tokens.append(token)
        logits = BIGRAM[token] + length_bonus
    return jnp.array(tokens)


print(decode(jnp.array([0.0, 0.0, 1.0, 0.0]), 0.1).tolist())
