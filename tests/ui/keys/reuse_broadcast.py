import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    keys = jnp.broadcast_to(random.key(0), (3,))
    batch = sagax.vmap(random.normal)(keys)  #~ SX0108 Previously-consumed key
