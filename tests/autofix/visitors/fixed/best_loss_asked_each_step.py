# One correct fixed version of best_loss_asked_each_step.py
import jax
import jax.numpy as jnp


def loss(w):
    return jnp.sum((w**2 - jnp.array([1.0, 4.0, 9.0])) ** 2)


@jax.jit
def train_step(w):
    value, slope = jax.value_and_grad(loss)(w)
    return w - 0.005 * slope, value


w = jnp.array([0.5, 0.5, 0.5])
best, best_w = jnp.inf, w
for _ in range(300):
    previous = w
    w, value = train_step(w)
    best_w = jnp.where(value < best, previous, best_w)
    best = jnp.minimum(best, value)
print([round(float(v), 2) for v in best_w])
