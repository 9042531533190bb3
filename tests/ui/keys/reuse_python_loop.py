import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    total = 0.0
    for _ in range(3):
        total += random.normal(key)  #~ SX0108 Previously-consumed key
