import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    keys = random.split(random.key(0), 6)
    a = sagax.vmap(random.normal)(keys[:3])
    b = sagax.vmap(random.normal)(keys[3:])
