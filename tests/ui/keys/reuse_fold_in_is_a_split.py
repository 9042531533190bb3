import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    first, second = random.split(key)
    a = random.normal(first)
    b = random.normal(random.fold_in(key, 0))  #~ SX0108 Previously-consumed key
