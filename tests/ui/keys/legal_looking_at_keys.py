import sagax
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    random.normal(key)
    assert key == key
    print(key.shape, key.dtype, random.key_impl(key))
    random.key_data(key)
