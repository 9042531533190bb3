import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    @sagax.checkpoint
    def layer(x, key):
        return jnp.sin(x * random.normal(key, x.shape))

    a, b = random.split(random.key(0))
    sagax.grad(lambda x: layer(x, a).sum())(jnp.ones(3))
    sagax.jit(sagax.grad(lambda x: layer(x, b).sum()))(jnp.ones(3))
