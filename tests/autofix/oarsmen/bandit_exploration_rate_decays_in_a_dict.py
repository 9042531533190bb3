# error: none
# expect: StaleValueWarning
# line: 19
# depends: -
# fix: any
# result: True 0.015

import jax
import jax.numpy as jnp

config = {"epsilon": 1.0, "decay": 0.9, "lr": 0.1}
arm_means = jnp.array([0.2, 1.5, 0.7, -0.4])


@jax.jit
def choose(key, q):
    """Epsilon-greedy choice for a batch of 256 players."""
    k_explore, k_arm = jax.random.split(key)
    explore = jax.random.uniform(k_explore, q.shape[:1]) < config["epsilon"]
    random_arm = jax.random.randint(k_arm, q.shape[:1], 0, q.shape[1])
    return jnp.where(explore, random_arm, jnp.argmax(q, axis=1))


@jax.jit
def learn(key, q, arms):
    rewards = arm_means[arms] + 0.1 * jax.random.normal(key, arms.shape)
    players = jnp.arange(q.shape[0])
    return q.at[players, arms].add(config["lr"] * (rewards - q[players, arms])), rewards


def play(key, rounds, q):
    for _ in range(rounds):
        key, k_choose, k_learn = jax.random.split(key, 3)
        arms = choose(k_choose, q)
        q, rewards = learn(k_learn, q, arms)
        config["epsilon"] *= config["decay"]
    return q, arms


q, arms = play(jax.random.key(3), 40, jnp.zeros((256, 4)))
print(bool(jnp.mean(arms == 1) > 0.6), round(config["epsilon"], 3))
