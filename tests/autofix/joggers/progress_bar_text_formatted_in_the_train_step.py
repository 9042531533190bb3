# error: TypeError
# line: 21
# depends: -
# fix: any
# result: loss 3.500 ; loss 1.777 ; loss 0.936 ; [0.7330000400543213, 1.184000015258789]

import jax
import jax.numpy as jnp

x = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0]])
y = jnp.array([1.0, 2.0, 3.0, 0.0])


def loss_fn(w):
    return jnp.mean((x @ w - y) ** 2)


@jax.jit
def train_step(w):
    loss, grad = jax.value_and_grad(loss_fn)(w)
    text = f"loss {loss:.3f}"
    return w - 0.2 * grad, text


w = jnp.zeros(2)
for _ in range(3):
    w, text = train_step(w)
    print(text)
print(w.round(3).tolist())
