import jax
import jax.numpy as jnp

MILESTONES = [0.1, 0.05, 0.01, 0.001]


def learning_rate(step):
    return jnp.asarray(MILESTONES)[step // 3]


@jax.jit
def sgd(step, theta, grad):
    return theta - learning_rate(step) * grad


theta = jnp.ones(3)
for step in range(12):
    theta = sgd(step, theta, 2 * theta)
print([round(v, 4) for v in theta.tolist()])
