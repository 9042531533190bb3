# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently moves the update back to the last place
# line: 21
# depends: -
# fix: larger_cache
# fixed-file: fixed/cache_full_of_keys.py
# result: [0.062, -0.415]
# family: silent/out-of-bounds-dynamic-update

import jax
import jax.numpy as jnp

PROMPT, NEW = 3, 3
LENGTH = 4


@jax.jit
def attend(cache, position, query):
    """One decoding step: writes a key, and reads all that were written."""
    cache = jax.lax.dynamic_update_slice(cache, query[None], (position, 0))
    written = jnp.arange(LENGTH) <= position
    weights = jax.nn.softmax(jnp.where(written, cache @ query, -1e9))
    return cache, weights @ cache


cache = jnp.zeros((LENGTH, 2))
for position in range(PROMPT + NEW):
    cache, out = attend(cache, position, jnp.array([jnp.cos(position), jnp.sin(position)]))
print([round(float(v), 3) for v in out])
