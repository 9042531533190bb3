import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    x = random.normal(random.fold_in(key, 100))
    a, b = random.split(key)
    y = random.normal(a), random.normal(b)
