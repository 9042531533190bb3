import sagax
import sagax.numpy as jnp
from sagax import random

with sagax.debug_key_reuse(True):
    def loss(x, key):
        return jnp.sum(x * random.normal(key, x.shape)) ** 2

    a, b = random.split(random.key(0))
    g = sagax.grad(loss)(jnp.ones(3), a)
    h = sagax.jit(sagax.value_and_grad(loss))(jnp.ones(3), b)
