# error: ValueError
# line: 22
# depends: rate
# fix: in_axes
# fixed-file: fixed/vmap_scalar_learning_rate.py
# result: [[0.1875, 0.375], [0.5, -0.5], [1.0, 1.0]]

import jax
import jax.numpy as jnp


def sgd_step(weight, example, rate):
    x, y = example
    error = jnp.dot(weight, x) - y
    return weight - rate * error * x


ensemble = jnp.array([[0.0, 0.0], [0.5, -0.5], [1.0, 1.0]])
xs = jnp.array([[1.0, 2.0], [2.0, 0.0], [0.0, 1.0]])
ys = jnp.array([1.0, 1.0, 1.0])
for _ in range(4):
    ensemble = jax.vmap(sgd_step)(ensemble, (xs, ys), 0.1)
print([[round(float(v), 4) for v in w] for w in ensemble])
