import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    same = sagax.jit(lambda key, x: (key, x + 1))
    key, x = same(random.key(0), 1.0)
    y = random.normal(key)
