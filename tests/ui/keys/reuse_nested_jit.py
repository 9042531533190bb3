import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    @sagax.jit
    def layer(key, x):
        return x + random.normal(key, x.shape)

    @sagax.jit
    def model(key, x):
        x = layer(key, x)
        return layer(key, x)  #~ SX0108 Previously-consumed key

    model(random.key(0), jnp.ones(3))
