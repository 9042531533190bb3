import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    assert random.normal(key) == random.normal(random.clone(key))
