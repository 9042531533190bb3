import jax
import jax.numpy as jnp

true_rates = jnp.array([0.2, 0.5, 0.8])
n_rounds = 500


def play_round(state, _):
    key, wins, losses = state
    key, key_draw, key_reward = jax.random.split(key, 3)
    draws = jax.random.beta(key_draw, 1.0 + wins, 1.0 + losses)
    arm = jnp.argmax(draws)
    reward = jax.random.bernoulli(key_reward, true_rates[arm]).astype(jnp.float32)
    wins = wins.at[arm].add(reward)
    losses = losses.at[arm].add(1.0 - reward)
    return (key, wins, losses), reward


@jax.jit
def thompson(key):
    start = (key, jnp.zeros(3), jnp.zeros(3))
    (_, wins, losses), rewards = jax.lax.scan(play_round, start, None, length=n_rounds)
    return wins + losses, rewards


pulls, rewards = thompson(jax.random.key(8))
print(pulls.astype(int).tolist(), int(jnp.argmax(pulls)))
print(round(float(rewards.mean()), 3))
