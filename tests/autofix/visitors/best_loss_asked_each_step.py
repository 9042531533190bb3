# error: none
# expect: HostSyncWarning
# jax-differs: jax waits in each comparison, and says nothing
# line: 30
# depends: -
# fix: keep_on_device
# fixed-file: fixed/best_loss_asked_each_step.py
# result: [1.0, 2.0, 3.0]
# family: silent/host-sync-comparison

import jax
import jax.numpy as jnp


def loss(w):
    return jnp.sum((w**2 - jnp.array([1.0, 4.0, 9.0])) ** 2)


@jax.jit
def train_step(w):
    value, slope = jax.value_and_grad(loss)(w)
    return w - 0.005 * slope, value


w = jnp.array([0.5, 0.5, 0.5])
best, best_w = float("inf"), w
for _ in range(300):
    previous = w
    w, value = train_step(w)
    if value < best:
        best, best_w = value, previous
print([round(float(v), 2) for v in best_w])
