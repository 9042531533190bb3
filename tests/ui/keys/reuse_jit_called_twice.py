import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    @sagax.jit
    def noisy(x, key):
        return x + random.normal(key)

    key = random.key(0)
    y = noisy(1.0, key)
    z = noisy(y, key)  #~ SX0108 Previously-consumed key
