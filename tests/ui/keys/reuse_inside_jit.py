import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    @sagax.jit
    def noisy(key):
        a = random.normal(key)
        return a * random.uniform(key)  #~ SX0108 Previously-consumed key

    noisy(random.key(0))
