import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    a = random.normal(key)
    same = random.wrap_key_data(random.key_data(key))
    b = random.normal(same)  #~ SX0108 Previously-consumed key
