import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    def noisy(key):
        a = random.normal(key)
        return a + random.uniform(key)  #~ SX0108 Previously-consumed key

    sagax.vmap(noisy)(random.split(random.key(0), 3))
