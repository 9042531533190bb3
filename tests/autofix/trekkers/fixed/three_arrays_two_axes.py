import jax
import jax.numpy as jnp


def loss(w, x, y):
    return (jnp.dot(w, x) - y) ** 2


w = jnp.array([0.5, -1.0])
x = jnp.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])
y = jnp.array([1.0, 0.0, 2.0])
per_example = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(w, x, y)
print(per_example.tolist())
