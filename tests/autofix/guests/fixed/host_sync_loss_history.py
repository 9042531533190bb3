# One correct fixed version of host_sync_loss_history.py
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
    losses.append(loss)
losses = [loss.item() for loss in losses]
print(len(losses), round(losses[0], 4), losses[-1] < 1e-6)
