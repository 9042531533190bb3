import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    keys = random.split(random.key(0), 3)
    x = random.normal(keys[0])
    keys = keys.at[0].set(random.key(1))
    ys = sagax.vmap(random.normal)(keys)
