# error: none
# expect: none
# result: match True ; [11, 7, 10, 1]

"""FNV-1a hashing of words into buckets, 32-bit wrap-around by design."""
import jax
import jax.numpy as jnp
import numpy as np

PRIME = np.uint32(16777619)
OFFSET = np.uint32(2166136261)


@jax.jit
def fnv1a(data, length):
    def body(h, pair):
        i, byte = pair
        nxt = (h ^ byte.astype(jnp.uint32)) * PRIME
        return jnp.where(i < length, nxt, h), None

    index = jnp.arange(data.shape[0])
    h, _ = jax.lax.scan(body, jnp.uint32(OFFSET), (index, data))
    return h


def pad(word, width=12):
    raw = np.zeros(width, dtype=np.uint8)
    raw[:len(word)] = np.frombuffer(word.encode(), dtype=np.uint8)
    return raw, len(word)


def python_fnv(word):
    h = 2166136261
    for b in word.encode():
        h = ((h ^ b) * 16777619) % 2 ** 32
    return h


words = ["alpha", "beta", "gamma", "delta"]
hashes = [int(fnv1a(*pad(w))) for w in words]
print("match", hashes == [python_fnv(w) for w in words])
print([h % 16 for h in hashes])
