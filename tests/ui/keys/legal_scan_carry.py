import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    def step(key, _):
        key, part = random.split(key)
        return key, random.normal(part)

    key, xs = lax.scan(step, random.key(0), None, length=3)
    y = random.normal(key)
