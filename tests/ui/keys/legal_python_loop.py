import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    for _ in range(3):
        key, part = random.split(key)
        random.normal(part)
