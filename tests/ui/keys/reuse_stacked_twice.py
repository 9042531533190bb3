import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    key, other = random.split(random.key(0))
    keys = jnp.stack([key, other, key])
    batch = sagax.vmap(random.normal)(keys)  #~ SX0108 Previously-consumed key
