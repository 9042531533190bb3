import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    keys = random.split(random.key(0), 5)
    _, xs = lax.scan(lambda c, key: (c, random.normal(key)), 0, keys)
