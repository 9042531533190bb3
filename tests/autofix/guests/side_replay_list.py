# error: none
# expect: SideEffectWarning
# jax-differs: jax silently appends during tracing alone
# line: 19
# depends: -
# fix: move_out_of_jit
# fixed-file: fixed/side_replay_list.py
# result: [0, 1, 1, 0] 4

import jax
import jax.numpy as jnp

log = []


@jax.jit
def act(policy, observation, epsilon):
    greedy = jnp.argmax(observation @ policy)
    log.append("explore" if epsilon is None else "greedy")
    return greedy


policy = jnp.array([[1.0, 0.0], [0.0, 1.0]])
actions = []
for observation in jnp.array([[1.0, 0.2], [0.1, 0.9], [0.5, 0.6], [2.0, 0.0]]):
    actions.append(int(act(policy, observation, 0.1)))
print(actions, len(log))
