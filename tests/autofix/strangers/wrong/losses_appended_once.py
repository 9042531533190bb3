# One wrong fix of losses_appended_once.py: the list holds parameters, and not losses
import jax
import jax.numpy as jnp

losses = []


def loss(w, x):
    return jnp.sum((w * x - 1.0) ** 2)


@jax.jit
def step(w, x):
    value, grad = jax.value_and_grad(loss)(w, x)
    return w - 0.01 * grad


w = jnp.array(3.0)
x = jnp.array([0.5, 1.0, 1.5])
for _ in range(10):
    w = step(w, x)
    losses.append(w)
print("recorded", len(losses), round(float(w), 4))
