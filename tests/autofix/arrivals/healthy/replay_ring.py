# error: none
# expect: none
# result: [4.0, 5.0, 2.0, 3.0] (3, 2)

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Ring(NamedTuple):
    data: jax.Array
    at: jax.Array


@jax.jit
def push(ring, x):
    n = ring.data.shape[0]
    return Ring(ring.data.at[ring.at % n].set(x), ring.at + 1)


ring = Ring(jnp.zeros((4, 2)), jnp.array(0))
for i in range(6):
    ring = push(ring, jnp.full(2, float(i)))
index = jax.random.randint(jax.random.key(0), (3,), 0, 4)
print(ring.data[:, 0].tolist(), ring.data[index].shape)
