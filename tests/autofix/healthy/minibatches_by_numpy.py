import jax
import jax.numpy as jnp
import numpy as np


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(x) - size + 1, size):
        index = order[start : start + size]
        yield x[index], y[index]


@jax.jit
def step(w, x, y):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


rng = np.random.default_rng(3)
x = rng.normal(size=(100, 2)).astype(np.float32)
y = x @ np.array([0.5, -1.5], dtype=np.float32)
w = jnp.zeros(2)
for _ in range(5):
    for xb, yb in batches(x, y, 20, rng):
        w = step(w, xb, yb)
print([round(float(v), 2) for v in w])
