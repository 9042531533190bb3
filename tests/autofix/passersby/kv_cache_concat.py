# error: TypeError
# expect: TypeError | ValueError
# line: 22
# also-line: 23
# depends: -
# fix: shape_match
# fixed-file: fixed/kv_cache_concat.py
# result: (3, 2, 8) (2, 3, 2, 4) ; 0.6213

import jax
import jax.numpy as jnp

HEADS, DIM = 2, 4


def split_heads(x):
    return x.reshape(x.shape[0], HEADS, DIM)


def append_cache(cache, k, v):
    return {
        "k": jnp.concatenate([cache["k"], k], axis=1),
        "v": jnp.concatenate([cache["v"], v], axis=1),
    }


def attend(q, cache):
    scores = jnp.einsum("bhd,bthd->bht", q, cache["k"]) / jnp.sqrt(DIM)
    weights = jax.nn.softmax(scores, axis=-1)
    return jnp.einsum("bht,bthd->bhd", weights, cache["v"])


def decode(inputs, wq, wk, wv):
    batch = inputs.shape[1]
    empty = jnp.zeros((batch, 0, HEADS, DIM))
    cache = {"k": empty, "v": empty}
    outs = []
    for x in inputs:
        q, k, v = (split_heads(x @ w) for w in (wq, wk, wv))
        cache = append_cache(cache, k, v)
        outs.append(attend(q, cache).reshape(batch, -1))
    return jnp.stack(outs), cache


width = HEADS * DIM
base = jnp.linspace(-1.0, 1.0, width * width).reshape(width, width)
inputs = jnp.sin(jnp.arange(3 * 2 * width, dtype=jnp.float32)).reshape(3, 2, width)
out, cache = decode(inputs, base, base.T, base + jnp.eye(width))
print(out.shape, cache["k"].shape)
print(round(float(jnp.abs(out).mean()), 4))
