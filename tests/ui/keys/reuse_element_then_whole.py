import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    keys = random.split(random.key(0), 4)
    one = random.normal(keys[-1])
    batch = sagax.vmap(random.normal)(keys)  #~ SX0108 Previously-consumed key
