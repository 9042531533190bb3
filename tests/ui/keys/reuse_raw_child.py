import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    first, second = random.split(random.PRNGKey(0))
    a = random.normal(second)
    b = random.normal(second)  #~ SX0108 Previously-consumed key
