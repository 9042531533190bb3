# error: TypeError
# line: 24
# also-line: 22
# depends: -
# fix: any
# result: [4.0, 2.0, 1.0, 0.5]

import jax
import jax.numpy as jnp


@jax.jit
def rollout(x):
    def running(state):
        x, rewards, t = state
        return t < 4

    def act(state):
        x, rewards, t = state
        x = 0.5 * x
        rewards = jnp.append(rewards, x)
        return x, rewards, t + 1

    return jax.lax.while_loop(running, act, (x, jnp.zeros(0), 0))[1]


print(rollout(jnp.array(8.0)).tolist())
