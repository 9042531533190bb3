# error: TypeError
# line: 35
# also-line: 15
# depends: activation
# fix: static_args
# fixed-file: fixed/activation_by_name.py
# result: relu [-0.1518, 0.324] ; tanh [-0.5288, 0.935]

import jax
import jax.numpy as jnp

TABLE = {"relu": jax.nn.relu, "gelu": jax.nn.gelu, "tanh": jnp.tanh}


@jax.jit
def mlp(params, x, activation):
    act = TABLE[activation]
    for w, b in params[:-1]:
        x = act(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def build(sizes):
    params = []
    for m, n in zip(sizes[:-1], sizes[1:]):
        w = jnp.cos(jnp.arange(m * n, dtype=jnp.float32)).reshape(m, n) / jnp.sqrt(m)
        params.append((w, jnp.zeros(n)))
    return params


params = build([3, 5, 5, 1])
x = jnp.array([[0.1, -0.4, 0.9], [1.0, 0.0, -1.0]])
for name in ("relu", "tanh"):
    out = mlp(params, x, name)
    print(name, [round(float(v), 4) for v in out[:, 0]])
