# error: none
# expect: LostUpdateWarning
# line: 19
# depends: -
# fix: any
# result: [3, 6, 3, 3, 1, 2] 18 ; [0.0, 0.1, 0.0, 0.667, 0.0, -1.0] ; 0.2

import jax
import jax.numpy as jnp

n_states = 6
episodes = jnp.array([[0, 1, 2, 1, 2, 3], [0, 1, 1, 1, 4, 5], [0, 3, 3, 2, 1, 5]])
rewards = jnp.array([[0.0, 0.1, 0.0, 0.1, 0.0, 1.0], [0.0, 0.1, 0.1, 0.1, 0.0, -1.0], [0.0, 0.5, 0.5, 0.0, 0.1, -1.0]])


def count_episode(tables, episode):
    visits, reward_sums = tables
    states, reward = episode
    visits = visits.at[states].set(visits[states] + 1)
    reward_sums = reward_sums.at[states].add(reward)
    return (visits, reward_sums), jnp.sum(reward)


@jax.jit
def summarise(episodes, rewards):
    tables = (jnp.zeros(n_states, jnp.int32), jnp.zeros(n_states))
    (visits, reward_sums), totals = jax.lax.scan(count_episode, tables, (episodes, rewards))
    return visits, reward_sums / jnp.maximum(visits, 1), totals


visits, averages, totals = summarise(episodes, rewards)
print(visits.tolist(), int(visits.sum()))
print([round(float(a), 3) for a in averages])
print(round(float(totals.mean()), 3))
