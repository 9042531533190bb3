import sagax
from sagax import lax, random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    lax.scan(lambda x, _: (x + random.normal(key), x), 0.0, None, length=1)
