import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    keys = random.split(random.key(0), 3)
    _, drawn = lax.scan(lambda c, key: (c, random.normal(key)), 0, keys)
    last = random.normal(keys[2])  #~ SX0108 Previously-consumed key
