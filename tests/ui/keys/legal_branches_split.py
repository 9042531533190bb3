import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    def go(key):
        return random.split(key)[0]

    key = random.key(0)
    key = lax.cond(True, go, lambda key: random.split(key)[1], key)
    x = random.normal(key)
