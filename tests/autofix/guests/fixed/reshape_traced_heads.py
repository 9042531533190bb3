# One correct fixed version of reshape_traced_heads.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="heads")
def attention(x, w_qkv, heads):
    length, width = x.shape
    qkv = (x @ w_qkv).reshape(length, 3, heads, width // heads)
    q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]
    scores = jnp.einsum("qhd,khd->hqk", q, k)
    weights = jax.nn.softmax(scores, axis=-1)
    return jnp.einsum("hqk,khd->qhd", weights, v).reshape(length, width)


x = jnp.arange(8.0).reshape(2, 4) / 8.0
out = attention(x, jnp.ones((4, 12)) / 4.0, 2)
print(out.shape, round(float(out.sum()), 4))
