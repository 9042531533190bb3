import jax
import jax.numpy as jnp


def walk(key, steps):
    state = (0.0, key)

    def step(state, _):
        position, key = state
        key, sub = jax.random.split(key)
        position = position + jax.random.normal(sub)
        return (position, key), position

    return jax.lax.scan(step, state, None, length=steps)[1]


print(walk(jax.random.key(0), 3).shape)
