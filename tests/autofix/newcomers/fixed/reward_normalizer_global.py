import jax
import jax.numpy as jnp

running_mean = jnp.array(0.0)


@jax.jit
def centred(running_mean, rewards, momentum=0.9):
    running_mean = momentum * running_mean + (1 - momentum) * rewards.mean()
    return rewards - running_mean, running_mean


def rollout(seed):
    return jax.random.uniform(jax.random.PRNGKey(seed), (8,)) + 1.0


for episode in range(5):
    r, running_mean = centred(running_mean, rollout(episode))
print(r.shape, bool(0.3 < running_mean < 0.8))
