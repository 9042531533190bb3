import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    key = random.key(0)
    sagax.vmap(lambda x: x * random.normal(key))(jnp.ones(3))
