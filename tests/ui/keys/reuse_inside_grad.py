import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)

    def loss(x):
        return x * random.normal(key)

    g = sagax.grad(loss)(1.0)
    h = sagax.grad(loss)(2.0)  #~ SX0108 Previously-consumed key
