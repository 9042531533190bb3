import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    pick = sagax.jit(lambda keys, i: random.normal(keys[i]))
    keys = random.split(random.key(0), 4)
    xs = [pick(keys, i) for i in range(4)]
