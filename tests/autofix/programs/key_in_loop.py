# error: KeyReuseError
# line: 14
# depends: -
# fix: split_key
# result: (2,)

import jax
import jax.numpy as jnp


def walk(key, n):
    total = jnp.zeros(2)
    for _ in range(n):
        total = total + jax.random.normal(key, (2,))
    return total


print(walk(jax.random.key(3), 3).shape)
