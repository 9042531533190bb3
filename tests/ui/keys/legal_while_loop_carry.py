import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    def body(state):
        i, key, x = state
        key, part = random.split(key)
        return i + 1, key, x + random.normal(part)

    i, key, x = lax.while_loop(lambda s: s[0] < 3, body, (0, random.key(0), 0.0))
    y = random.normal(key)
