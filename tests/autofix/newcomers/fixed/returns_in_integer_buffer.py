import jax
import jax.numpy as jnp


def discounted_returns(rewards, gamma=0.9):
    returns = jnp.zeros(rewards.shape)
    running = 0.0
    for t in reversed(range(rewards.shape[0])):
        running = rewards[t] + gamma * running
        returns = returns.at[t].set(running)
    return returns


episode = jnp.array([0, 0, 1, 0, 2])
print([round(g, 4) for g in discounted_returns(episode).tolist()])
