# error: none
# expect: none
# result: True True

import json

import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)
data = rng.normal(size=(64, 3)).astype(np.float32)
target = data @ np.array([1.0, -1.0, 2.0], np.float32)


@jax.jit
def step(w, x, y):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.2 * g, loss


w = jnp.zeros(3)
log = []
for epoch in range(5):
    order = rng.permutation(64)
    losses = []
    for i in range(0, 64, 16):
        batch = order[i : i + 16]
        w, loss = step(w, data[batch], target[batch])
        losses.append(loss)
    log.append({"epoch": epoch, "loss": float(np.mean(losses))})
print(len(json.dumps(log)) > 10, log[-1]["loss"] < log[0]["loss"])
