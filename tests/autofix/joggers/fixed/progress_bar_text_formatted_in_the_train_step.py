import jax
import jax.numpy as jnp

x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0]])
y = jnp.array([1.0, 2.0, 3.0, 0.0])


def loss_fn(w):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def train_step(w):
    loss, grad = jax.value_and_grad(loss_fn)(w)
    return w - 0.2 * grad, loss


w = jnp.zeros(2)
for _ in range(3):
    w, loss = train_step(w)
    print(f"loss {loss:.3f}")
print(w.round(3).tolist())
