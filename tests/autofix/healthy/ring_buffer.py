from typing import NamedTuple

import jax
import jax.numpy as jnp


class Buffer(NamedTuple):
    data: jax.Array
    count: jax.Array


def add(buffer, item):
    slot = buffer.count % buffer.data.shape[0]
    return Buffer(buffer.data.at[slot].set(item), buffer.count + 1)


def sample(key, buffer, n):
    filled = jnp.minimum(buffer.count, buffer.data.shape[0])
    return buffer.data[jax.random.randint(key, (n,), 0, filled)]


add = jax.jit(add)
sample = jax.jit(sample, static_argnums=2)

buffer = Buffer(jnp.zeros((8, 2)), jnp.zeros((), jnp.int32))
for i in range(11):
    buffer = add(buffer, jnp.array([i, -i], dtype=jnp.float32))
drawn = sample(jax.random.key(0), buffer, 16)
print(int(buffer.count), buffer.data[:, 0].tolist(), bool(jnp.all(drawn[:, 0] >= 3.0)))
