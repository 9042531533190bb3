import sagax
import sagax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)  #~ SX0414 (4, 1) with (4,) is (4, 4)


x = jnp.arange(8.0).reshape(4, 2)
print(sagax.grad(loss)(jnp.ones((2, 1)), x, jnp.ones(4)).shape)
