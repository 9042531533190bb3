import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.PRNGKey(0)
    a = random.normal(key)
    b = random.uniform(key)  #~ SX0108 Previously-consumed key
