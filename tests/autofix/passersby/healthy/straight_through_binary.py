# error: none
# expect: none
# result: learned True ; loss 0.0

import jax
import jax.numpy as jnp


def binarise(w):
    hard = jnp.where(w >= 0, 1.0, -1.0)
    return w + jax.lax.stop_gradient(hard - w)


def predict(w, x):
    return x @ binarise(w)


def loss(w, x, y):
    return jnp.mean((predict(w, x) - y) ** 2)


@jax.jit
def step(w, x, y):
    return jnp.clip(w - 0.05 * jax.grad(loss)(w, x, y), -1.0, 1.0)


truth = jnp.array([1.0, -1.0, -1.0, 1.0, -1.0])
x = jnp.sin(jnp.arange(100.0) ** 1.3).reshape(20, 5)
y = x @ truth
w = jnp.full(5, 0.1)
for _ in range(100):
    w = step(w, x, y)
print("learned", bool(jnp.all(jnp.sign(w) == truth)))
print("loss", round(float(loss(w, x, y)), 4))
