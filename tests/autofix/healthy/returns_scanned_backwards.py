import jax
import jax.numpy as jnp


@jax.jit
def returns(rewards, dones):
    def step(later, now):
        reward, done = now
        value = reward + 0.5 * jnp.where(done, 0.0, later)
        return value, value

    return jax.lax.scan(step, 0.0, (rewards, dones), reverse=True)[1]


print(returns(jnp.array([1.0, 0.0, 2.0, 4.0]), jnp.array([False, True, False, False])).tolist())
