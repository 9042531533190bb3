import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    def init(key):
        w = random.normal(key, (3, 2))
        b = random.uniform(key, (2,))  #~ SX0108 Previously-consumed key
        return w, b

    init(random.key(0))
