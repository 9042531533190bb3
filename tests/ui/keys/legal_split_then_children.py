import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key, a, b = random.split(random.key(0), 3)
    x = random.normal(a), random.uniform(b)
    key, c = random.split(key)
    y = random.normal(c)
