import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    key = random.key(0)

    def step(x, _):
        return x + random.normal(key), x  #~ SX0108 Previously-consumed key

    lax.scan(step, 0.0, None, length=3)
