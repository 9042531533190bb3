# error: TracerBoolConversionError
# line: 21
# depends: state
# fix: jnp_function
# fixed-file: fixed/holes_of_the_lake.py
# result: 15 1.0 [False, False, True]
# family: concretization/in

import jax
import jax.numpy as jnp

# a lake of 4 x 4 cells; the holes and the goal end an episode
HOLES = [5, 7, 11, 12]
GOAL = 15
MOVES = jnp.array([-1, 4, 1, -4])


def step(state, action):
    state = jnp.clip(state + MOVES[action], 0, 15)
    reward = jnp.where(state == GOAL, 1.0, 0.0)
    done = state in HOLES
    return state, (reward, done | (state == GOAL))


state, (rewards, dones) = jax.lax.scan(step, jnp.array(9), jnp.array([1, 2, 2]))
print(int(state), float(rewards.sum()), dones.tolist())
