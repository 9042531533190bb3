import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    layers = random.split(key, 3)
    heads = random.split(key, 2)  #~ SX0108 Previously-consumed key
