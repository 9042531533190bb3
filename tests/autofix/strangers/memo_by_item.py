# error: UnexpectedTracerError
# line: 20
# also-line: 26, 31
# depends: x, scale
# fix: return_value
# fixed-file: fixed/memo_by_item.py
# result: [0.8689, 0.1091, 0.8689]
# family: 3/leak

import jax
import jax.numpy as jnp

gram = {}


def kernel(x, scale):
    name = ("rbf", x.shape[0])
    if name not in gram:
        square = (x[:, None] - x[None, :]) ** 2
        gram[name] = jnp.exp(-0.5 * square / scale**2)
    return gram[name]


@jax.jit
def fit(x, y, scale):
    return jnp.linalg.solve(kernel(x, scale) + 0.1 * jnp.eye(x.shape[0]), y)


@jax.jit
def smooth(x, weights, scale):
    return kernel(x, scale) @ weights


x = jnp.array([0.0, 1.0, 2.0])
weights = fit(x, jnp.array([1.0, 0.0, 1.0]), 0.8)
print([round(float(v), 4) for v in smooth(x, weights, 0.8)])
