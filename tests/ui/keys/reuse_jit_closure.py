import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    noisy = sagax.jit(lambda x: x + random.normal(key))
    y = noisy(1.0)
    z = noisy(y)  #~ SX0108 Previously-consumed key
