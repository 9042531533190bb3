import jax
import jax.numpy as jnp


@jax.jit
def step(w, x, y):
    value, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.05 * grad, value


x = jnp.array([[1.0, 0.2], [0.3, -1.0], [0.5, 0.5]])
y = x @ jnp.array([2.0, -1.0])
w = jnp.zeros(2)
log = []
for i in range(400):
    w, value = step(w, x, y)
    if i % 100 == 0:
        log.append((i, float(value)))
print([i for i, _ in log], log[-1][1] < log[0][1])
