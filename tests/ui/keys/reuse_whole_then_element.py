import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    keys = random.split(random.key(0), 4)
    batch = sagax.vmap(random.normal)(keys)
    again = random.normal(keys[2])  #~ SX0108 Previously-consumed key
