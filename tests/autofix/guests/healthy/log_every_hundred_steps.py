import jax
import jax.numpy as jnp


@jax.jit
def step(w):
    loss, grad = jax.value_and_grad(lambda w: jnp.sum((w - 1.0) ** 2))(w)
    return w - 0.01 * grad, loss


w = jnp.zeros(2)
losses = []
for k in range(301):
    w, loss = step(w)
    losses.append(loss)
    if k % 100 == 0:
        print(k, round(float(loss), 4))
losses = jnp.stack(losses)
print(losses.shape, bool(jnp.all(jnp.diff(losses) < 0.0)))
