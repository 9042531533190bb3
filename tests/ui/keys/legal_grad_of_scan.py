import sagax
import sagax.numpy as jnp
from sagax import lax, random

with sagax.debug_key_reuse(True):
    def loss(x, keys):
        return lax.scan(lambda x, key: (jnp.sin(x * random.normal(key)), None), x, keys)[0]

    sagax.grad(loss)(1.0, random.split(random.key(0), 4))
