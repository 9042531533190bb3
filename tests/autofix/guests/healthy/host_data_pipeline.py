import time

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def update(w, x, y):
    return w - 0.2 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


generator = np.random.default_rng(0)
features = generator.normal(size=(64, 2)).astype(np.float32)
targets = features @ np.array([1.0, -2.0], np.float32)
order = np.arange(64)
w = jnp.zeros(2)
began = time.time()
for _ in range(6):
    generator.shuffle(order)
    for start in range(0, 64, 16):
        rows = order[start : start + 16]
        w = update(w, features[rows], targets[rows])
print([round(float(v), 1) for v in w], time.time() > began)
