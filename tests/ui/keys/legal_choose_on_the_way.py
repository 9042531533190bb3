import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    a, b = random.split(random.key(0))
    key = jnp.where(True, a, b)
    x = random.normal(key)
