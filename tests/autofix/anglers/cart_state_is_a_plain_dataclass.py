# error: TypeError
# line: 14
# also-line: 38
# depends: -
# fix: any
# result: -0.603 -51.86 ; 0.6 -37.94

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class CartState:
    position: jax.Array
    velocity: jax.Array


def env_step(state, push):
    velocity = state.velocity + 0.1 * push - 0.02 * jnp.cos(3.0 * state.position)
    position = jnp.clip(state.position + 0.1 * velocity, -1.2, 0.6)
    return CartState(position, velocity), -jnp.abs(position - 0.5)


@jax.jit
def rollout(gain, start):
    def step(state, _):
        push = jnp.tanh(gain * state.velocity)
        return env_step(state, push)

    final, rewards = jax.lax.scan(step, start, length=50)
    return final, jnp.sum(rewards)


start = CartState(jnp.array(-0.5), jnp.array(0.01))
for gain in (0.5, 2.0):
    final, total = rollout(gain, start)
    print(round(float(final.position), 3), round(float(total), 2))
