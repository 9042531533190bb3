# error: ValueError
# line: 46
# depends: -
# fix: any
# result: ['bias', 'kernel'] 0.04

import io

import jax
import jax.numpy as jnp
import numpy as np


def save(params):
    flat = {f"{layer}/{name}": np.asarray(p) for layer, ps in params.items() for name, p in ps.items()}
    buffer = io.BytesIO()
    np.savez(buffer, **flat)
    return buffer.getvalue()


def load(blob):
    params = {}
    with np.load(io.BytesIO(blob)) as data:
        for key in data.files:
            layer, name = key.split("/")
            if name == "bias" and not data[key].any():
                continue  # biases that are still zero
            params.setdefault(layer, {})[name] = jnp.asarray(data[key])
    return params


def init():
    dense = lambda m, n: {"kernel": 0.1 * jnp.sin(jnp.arange(1.0 * m * n)).reshape(m, n), "bias": jnp.zeros(n)}
    return {"hidden": dense(3, 5), "readout": dense(5, 1)}


def predict(params, x):
    h = jax.nn.relu(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return (h @ params["readout"]["kernel"] + params["readout"]["bias"])[:, 0]


@jax.jit
def update(params, ema, x, y):
    grads = jax.grad(lambda p: jnp.mean((predict(p, x) - y) ** 2))(params)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    ema = jax.tree.map(lambda p, e: 0.9 * e + 0.1 * p, params, ema)
    return params, ema


x = jnp.cos(jnp.arange(24.0)).reshape(8, 3)
y = x.sum(axis=1)
params = init()
ema = load(save(params))
for _ in range(50):
    params, ema = update(params, ema, x, y)
print(sorted(ema["hidden"]), round(float(jnp.mean((predict(ema, x) - y) ** 2)), 2))
