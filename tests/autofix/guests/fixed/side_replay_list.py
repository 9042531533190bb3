# One correct fixed version of side_replay_list.py
import jax
import jax.numpy as jnp

log = []


@jax.jit
def act(policy, observation, epsilon):
    return jnp.argmax(observation @ policy)


policy = jnp.array([[1.0, 0.0], [0.0, 1.0]])
actions = []
for observation in jnp.array([[1.0, 0.2], [0.1, 0.9], [0.5, 0.6], [2.0, 0.0]]):
    actions.append(int(act(policy, observation, 0.1)))
    log.append("greedy")
print(actions, len(log))
