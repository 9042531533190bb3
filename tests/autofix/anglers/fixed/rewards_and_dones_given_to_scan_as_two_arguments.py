import jax
import jax.numpy as jnp

gamma, lam = 0.99, 0.95
rewards = jnp.array([1.0, 0.0, -0.5, 2.0, 0.3, 1.0])
dones = jnp.array([0.0, 0.0, 1.0, 0.0, 0.0, 1.0])
values = jnp.array([0.5, 0.2, 0.1, 0.9, 0.4, 0.7, 0.0])


@jax.jit
def advantages(rewards, dones, values):
    deltas = rewards + gamma * values[1:] * (1.0 - dones) - values[:-1]

    def backward(running, transition):
        delta, done = transition
        running = delta + gamma * lam * (1.0 - done) * running
        return running, running

    _, gae = jax.lax.scan(backward, 0.0, (deltas, dones), reverse=True)
    return gae, gae + values[:-1]


gae, targets = advantages(rewards, dones, values)
print([round(float(a), 3) for a in gae])
print(round(float(targets.sum()), 3))
