import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    key, parts = lax.scan(lambda key, _: tuple(random.split(key)), random.key(0), None, length=3)
    xs = sagax.vmap(random.normal)(parts)
    y = random.normal(key)
