import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    def noisy(key, x):
        a, b = random.split(key)
        return x * random.normal(a) + random.normal(b)

    sagax.vmap(noisy)(random.split(random.key(0), 3), jnp.ones(3))
