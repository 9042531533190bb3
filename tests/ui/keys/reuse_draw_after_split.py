import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    first, second = random.split(key)
    noise = random.normal(key)  #~ SX0108 Previously-consumed key
