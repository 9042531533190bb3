# error: none
# expect: StaleValueWarning
# line: 20
# also-line: 23
# depends: -
# fix: any
# result: 0 0.2 ; 1 0.6 ; 2 1.0

from functools import partial

import jax
import jax.numpy as jnp


class Agent:
    def __init__(self, q_values):
        self.q_values = q_values
        self.epsilon = 1.0

    @partial(jax.jit, static_argnums=0)
    def act(self, key):
        key_explore, key_action = jax.random.split(key)
        explore = jax.random.uniform(key_explore) < self.epsilon
        random_action = jax.random.randint(key_action, (), 0, self.q_values.shape[0])
        return jnp.where(explore, random_action, jnp.argmax(self.q_values))


agent = Agent(jnp.array([0.1, 0.4, 0.9, 0.2, 0.3]))
best = jnp.argmax(agent.q_values)
for episode, epsilon in enumerate([1.0, 0.5, 0.0]):
    agent.epsilon = epsilon
    keys = jax.random.split(jax.random.key(episode), 4000)
    actions = jax.vmap(agent.act)(keys)
    print(episode, round(float(jnp.mean(actions == best)), 1))
