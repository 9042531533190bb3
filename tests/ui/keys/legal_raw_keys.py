import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.PRNGKey(0)
    key, part = random.split(key)
    a = random.normal(part)
    b = random.normal(random.fold_in(key, 1))
    c, d = random.split(key)
