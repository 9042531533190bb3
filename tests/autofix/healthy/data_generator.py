import itertools

import jax
import jax.numpy as jnp
import numpy as np


def stream(seed):
    """An endless stream of batches, from the host."""
    rng = np.random.default_rng(seed)
    while True:
        x = rng.uniform(-1.0, 1.0, size=(16, 2)).astype(np.float32)
        yield x, (x[:, 0] * x[:, 1] > 0).astype(np.float32)


@jax.jit
def step(params, x, y):
    def loss(p):
        logits = jnp.tanh(x @ p["w"] + p["b"]) @ p["v"]
        return jnp.mean(jax.nn.softplus(logits) - y * logits)

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, grads), value


k1, k2 = jax.random.split(jax.random.key(0))
params = {
    "w": jax.random.normal(k1, (2, 16)),
    "b": jnp.zeros(16),
    "v": 0.1 * jax.random.normal(k2, (16,)),
}
losses = []
for x, y in itertools.islice(stream(0), 150):
    params, value = step(params, x, y)
    losses.append(value)
print(len(losses), bool(jnp.stack(losses[-20:]).mean() < jnp.stack(losses[:20]).mean()))
