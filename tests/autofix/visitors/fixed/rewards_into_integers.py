# One correct fixed version of rewards_into_integers.py
import jax
import jax.numpy as jnp


@jax.jit
def discounted(rewards):
    """Return from each time on."""
    horizon = rewards.shape[0]
    returns = jnp.zeros(horizon)

    def back(k, returns):
        t = horizon - 1 - k
        later = jnp.where(t + 1 < horizon, returns[jnp.minimum(t + 1, horizon - 1)], 0.0)
        return returns.at[t].set(rewards[t] + 0.5 * later)

    return jax.lax.fori_loop(0, horizon, back, returns)


print(discounted(jnp.array([0, 0, 1, 3])).tolist())
