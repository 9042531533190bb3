import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    keys = random.split(random.key(0), 4)
    a = sagax.vmap(random.normal)(keys[jnp.array([0, 2])])
    b = sagax.vmap(random.normal)(keys[jnp.array([1, 3])])
