import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    def step(key, _):
        new, part = random.split(key)
        return new, random.normal(part) + random.uniform(key)  #~ SX0108 Previously-consumed key

    lax.scan(step, random.key(0), None, length=3)
