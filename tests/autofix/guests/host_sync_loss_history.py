# error: none
# expect: HostSyncWarning
# jax-differs: jax silently waits for the device in each step
# line: 26
# depends: -
# fix: convert_after_loop
# fixed-file: fixed/host_sync_loss_history.py
# result: 250 0.6667 True

import jax
import jax.numpy as jnp


@jax.jit
def train_step(params, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
    return params - 0.1 * grads, loss


x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
y = jnp.array([1.0, -1.0, 0.0])
params = jnp.zeros(2)
losses = []
for step in range(250):
    params, loss = train_step(params, x, y)
    losses.append(loss.item())
print(len(losses), round(losses[0], 4), losses[-1] < 1e-6)
