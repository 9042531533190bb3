import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    keys = list(random.split(random.key(0), 3))
    xs = [random.normal(key) for key in keys]
