import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    keys = random.split(random.key(0), 4)
    a = random.normal(keys[1])
    b = random.normal(keys[1])  #~ SX0108 Previously-consumed key
