from functools import partial

import jax
import jax.numpy as jnp


class ObservationNormalizer:
    def __init__(self, size):
        self.n = 0
        self.mean = jnp.zeros(size)
        self.m2 = jnp.zeros(size)

    @partial(jax.jit, static_argnums=0)
    def _moments(self, n, mean, m2, obs):
        delta = obs - mean
        mean = mean + delta / n
        return mean, m2 + delta * (obs - mean)

    def __call__(self, obs):
        self.n += 1
        self.mean, self.m2 = self._moments(self.n, self.mean, self.m2, obs)
        return (obs - self.mean) / self.std()

    def std(self):
        return jnp.sqrt(self.m2 / self.n + 1e-2)


def env_step(state, action):
    return state + 0.1 * jnp.array([state[1], action - state[0]])


norm = ObservationNormalizer(2)


def policy(weights, state):
    return jnp.tanh(weights @ norm(state))


state = jnp.array([1.0, 0.0])
weights = jnp.array([-0.5, -0.3])
for _ in range(5):
    state = env_step(state, policy(weights, state))
print([round(v, 2) for v in state.tolist()], [round(s, 2) for s in norm.std().tolist()])
