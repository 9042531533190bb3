import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    def noise(key):
        return random.normal(key)

    def model(key):
        a = noise(key)
        return a * noise(key)  #~ SX0108 Previously-consumed key

    model(random.key(0))
