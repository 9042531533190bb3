import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    def twice(key):
        return random.normal(key) + random.uniform(key)  #~ SX0108 Previously-consumed key

    lax.cond(True, twice, lambda key: 0.0, random.key(0))
