# error: none
# expect: KeyReuseError
# line: 24
# depends: -
# fix: any
# result: (4, 6) [True, True]

import jax
import jax.numpy as jnp


def dense(key, n_in, n_out):
    return {"w": jax.random.normal(key, (n_in, n_out)) / jnp.sqrt(n_in), "b": jnp.zeros(n_out)}


def apply(layer, x):
    return x @ layer["w"] + layer["b"]


def init_attention(key, width):
    k_in, k_out = jax.random.split(key)
    return {
        "query": dense(k_in, width, width),
        "key": dense(k_in, width, width),
        "out": dense(k_out, width, width),
    }


def scores(params, x):
    q, k = apply(params["query"], x), apply(params["key"], x)
    return q @ k.T / jnp.sqrt(q.shape[-1])


blocks = [init_attention(key, 6) for key in jax.random.split(jax.random.key(11), 2)]
x = jnp.sin(jnp.arange(24.0) * 0.9).reshape(4, 6)
asymmetric = []
for params in blocks:
    s = scores(params, x)
    asymmetric.append(bool(jnp.abs(s - s.T).max() > 1e-3))
    x = x + apply(params["out"], jax.nn.softmax(s) @ x)
print(x.shape, asymmetric)
