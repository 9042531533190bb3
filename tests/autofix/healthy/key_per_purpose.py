from typing import NamedTuple

import jax
import jax.numpy as jnp


class Keys(NamedTuple):
    params: jax.Array
    data: jax.Array
    noise: jax.Array


def make_keys(seed):
    return Keys(*jax.random.split(jax.random.key(seed), 3))


keys = make_keys(0)
w = jax.random.normal(keys.params, (3,))
x = jax.random.normal(keys.data, (50, 3))
y = x @ w + 0.01 * jax.random.normal(keys.noise, (50,))
found, *_ = jnp.linalg.lstsq(x, y)
print(bool(jnp.allclose(found, w, atol=0.02)))
