# error: none
# expect: KeyReuseError
# jax-differs: place and speed are one number
# line: 16
# also-line: 15
# depends: -
# fix: any
# result: True (400,)

import jax
import jax.numpy as jnp


def reset(key):
    angle = jax.random.uniform(key, minval=-jnp.pi, maxval=jnp.pi)
    speed = jax.random.uniform(key, minval=-1.0, maxval=1.0)
    return jnp.array([angle, speed])


def step(state, torque):
    angle, speed = state
    speed = speed + 0.05 * (9.8 * jnp.sin(angle) + torque)
    return jnp.array([angle + 0.05 * speed, speed]), angle**2


@jax.jit
def episode(key):
    state = reset(key)
    _, costs = jax.lax.scan(step, state, jnp.zeros(10))
    return state, costs.mean()


states, costs = jax.vmap(episode)(jax.random.split(jax.random.key(5), 400))
spread = jnp.corrcoef(states[:, 0], states[:, 1])[0, 1]
print(bool(abs(spread) < 0.2), costs.shape)
