# One correct fixed version of lr_schedule_dict.py
import jax
import jax.numpy as jnp

MILESTONES = {0: 0.5, 1: 0.5, 2: 0.25, 3: 0.25, 4: 0.1}


def learning_rate(step):
    table = jnp.array([MILESTONES[k] for k in sorted(MILESTONES)] + [0.05])
    return table[jnp.minimum(step, len(MILESTONES))]


def quadratic(theta):
    A = jnp.array([[3.0, 0.5], [0.5, 1.0]])
    b = jnp.array([1.0, -2.0])
    return 0.5 * theta @ A @ theta - b @ theta


@jax.jit
def update(theta, step):
    g = jax.grad(quadratic)(theta)
    return theta - learning_rate(step) * g


def fit(n_steps):
    theta = jnp.zeros(2)
    trace = []
    for step in range(n_steps):
        theta = update(theta, step)
        trace.append(float(quadratic(theta)))
    return theta, trace


theta, trace = fit(9)
print([round(float(t), 4) for t in theta])
print(round(trace[-1], 4))
