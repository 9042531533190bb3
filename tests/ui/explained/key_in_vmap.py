import sagax
import sagax.numpy as jnp
from sagax import random

key = random.key(0)


def walker(start):
    return start + random.normal(key, (3,))  #~ SX0108 one key for all examples of a vmap


print(sagax.vmap(walker)(jnp.zeros(4)).shape)
