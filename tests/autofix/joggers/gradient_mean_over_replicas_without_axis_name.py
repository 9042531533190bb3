# error: NameError
# line: 18
# also-line: 25
# depends: -
# fix: any
# result: [0.4090000092983246, -0.049000002443790436]

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


def replica_step(w, x, y):
    grad = jax.grad(loss)(w, x, y)
    grad = jax.lax.pmean(grad, "replicas")
    return w - 0.1 * grad


x = jnp.arange(12.0).reshape(2, 3, 2) / 6.0
y = jnp.array([[0.5, 1.0, 1.5], [0.0, -0.5, 1.0]])
w = jnp.array([0.3, -0.2])
steps = jax.vmap(replica_step, in_axes=(None, 0, 0))
for _ in range(3):
    w = steps(w, x, y)[0]
print(w.round(3).tolist())
