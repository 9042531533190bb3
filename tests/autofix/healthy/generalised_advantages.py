import jax
import jax.numpy as jnp


@jax.jit
def gae(rewards, values, dones, last):
    following = jnp.append(values[1:], last)
    deltas = rewards + 0.99 * (1.0 - dones) * following - values

    def back(carry, step):
        delta, done = step
        carry = delta + 0.99 * 0.95 * (1.0 - done) * carry
        return carry, carry

    _, advantages = jax.lax.scan(back, jnp.zeros(()), (deltas, dones), reverse=True)
    return advantages, advantages + values


batched = jax.vmap(gae)
rewards = jnp.array([[1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]])
values = jnp.array([[0.5, 0.4, 0.6, 0.2], [0.1, 0.1, 0.1, 0.1]])
dones = jnp.zeros((2, 4)).at[0, 1].set(1.0)
advantages, targets = batched(rewards, values, dones, jnp.array([0.3, 0.0]))
print(advantages.shape, [round(float(a), 3) for a in advantages[0]])
