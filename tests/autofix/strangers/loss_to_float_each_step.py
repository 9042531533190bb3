# error: none
# expect: HostSyncWarning
# jax-differs: jax waits for the device in each step and says nothing
# line: 31
# depends: -
# fix: keep_on_device
# fixed-file: fixed/loss_to_float_each_step.py
# result: 300 16.102
# family: 2/host-sync-in-hot-loop

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def train_step(w, x, y):
    value, grads = jax.value_and_grad(loss)(w, x, y)
    return w - 0.1 * grads, value


x = jnp.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5], [-1.0, 1.0]])
y = x @ jnp.array([1.0, -2.0])
w = jnp.zeros(2)
curve = []
for _ in range(300):
    w, value = train_step(w, x, y)
    curve.append(float(value))
print(len(curve), round(float(sum(curve)), 3))
