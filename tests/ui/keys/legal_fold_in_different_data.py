import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    xs = [random.normal(random.fold_in(key, i)) for i in range(4)]
