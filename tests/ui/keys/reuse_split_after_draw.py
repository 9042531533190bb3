import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    noise = random.normal(key)
    key, part = random.split(key)  #~ SX0108 Previously-consumed key
