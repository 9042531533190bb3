# error: ValueError
# expect: TypeError | ValueError
# line: 19
# depends: -
# fix: einsum_axes
# fixed-file: fixed/attention_axes_in_einsum.py
# result: (1, 5, 2, 4) 0.1818
# family: shapes/einsum

import jax
import jax.numpy as jnp

HEADS = 2


@jax.jit
def attention(q, k, v):
    """q, k and v are (batch, length, heads, depth)."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)


def split_heads(x):
    return x.reshape(*x.shape[:-1], HEADS, -1)


x = jnp.sin(jnp.arange(40.0)).reshape(1, 5, 8)
context = jnp.cos(jnp.arange(56.0)).reshape(1, 7, 8)
out = attention(split_heads(x), split_heads(context), split_heads(context))
print(out.shape, round(float(out.sum()), 4))
