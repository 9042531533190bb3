import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    @sagax.jit
    def step(key):
        key, part = random.split(key)
        return key, random.normal(part)

    key = random.key(0)
    for _ in range(3):
        key, x = step(key)
