# One correct fixed version of decode_until_stop.py
"""Greedy decoding from a toy bigram table, stopping on punctuation."""
import jax
import jax.numpy as jnp

VOCAB = ["<s>", "the", "cat", "sat", ".", "!"]
STOP_TOKENS = [4, 5]
BIGRAM = jnp.array([
    [0.0, 3.0, 1.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 4.0, 1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 5.0, 0.0, 0.0],
    [0.0, 0.5, 0.0, 0.0, 2.0, 1.0],
    [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
])


@jax.jit
def next_token(token):
    logits = BIGRAM[token]
    logprob = jax.nn.log_softmax(logits)
    choice = jnp.argmax(logits)
    stop = jnp.isin(token, jnp.array(STOP_TOKENS))
    return jnp.where(stop, token, choice), jnp.where(stop, 0.0, logprob[choice])


def generate(start, limit=7):
    token, total, words = jnp.int32(start), 0.0, []
    for _ in range(limit):
        token, lp = next_token(token)
        total += float(lp)
        words.append(VOCAB[int(token)])
    return words, total


words, total = generate(0)
print(" ".join(words), round(total, 4))
