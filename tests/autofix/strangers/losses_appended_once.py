# error: none
# expect: SideEffectWarning
# jax-differs: jax silently appends while tracing only
# line: 24
# depends: -
# fix: return_value
# fixed-file: fixed/losses_appended_once.py
# result: recorded 10 1.8942
# family: 2/side-effect-under-jit

import jax
import jax.numpy as jnp

losses = []


def loss(w, x):
    return jnp.sum((w * x - 1.0) ** 2)


@jax.jit
def step(w, x):
    value, grad = jax.value_and_grad(loss)(w, x)
    losses.append(value)
    return w - 0.01 * grad


w = jnp.array(3.0)
x = jnp.array([0.5, 1.0, 1.5])
for _ in range(10):
    w = step(w, x)
print("recorded", len(losses), round(float(w), 4))
