import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    x = lax.cond(True, random.normal, random.uniform, key)
