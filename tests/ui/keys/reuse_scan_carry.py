import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    def step(key, _):
        return key, random.normal(key)  #~ SX0108 Previously-consumed key

    lax.scan(step, random.key(0), None, length=3)
