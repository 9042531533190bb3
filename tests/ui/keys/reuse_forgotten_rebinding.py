import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    for _ in range(2):
        _, part = random.split(key)  #~ SX0108 Previously-consumed key
        random.normal(part)
