import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    def dropout(key, x):
        return x * random.bernoulli(random.fold_in(key, 7), 0.5, x.shape)

    key = random.key(0)
    x = dropout(key, jnp.ones(4))
    y = dropout(key, x)  #~ SX0108 Previously-consumed key
