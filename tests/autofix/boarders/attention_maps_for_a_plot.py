# error: UnexpectedTracerError
# line: 16
# also-line: 33
# depends: -
# fix: any
# result: 0.8775 {'first': 0.867, 'second': 0.874}

import jax
import jax.numpy as jnp

maps = {}


def attention(name, q, k, v):
    weights = jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]))
    maps[name] = weights
    return weights @ v


def forward(params, x):
    h = attention("first", x @ params["q"], x @ params["k"], x)
    return attention("second", h, h, x)


@jax.jit
def loss(params, x):
    return jnp.mean(forward(params, x) ** 2)


params = {"q": jnp.eye(3) * 0.5, "k": jnp.eye(3)}
x = jnp.array([[1.0, 0.0, 2.0], [0.5, 1.5, -1.0]])
value = loss(params, x)
sharpest = {name: round(float(jnp.max(w)), 3) for name, w in maps.items()}
print(round(float(value), 4), sharpest)
