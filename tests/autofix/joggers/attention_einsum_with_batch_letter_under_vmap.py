# error: ValueError
# line: 12
# depends: -
# fix: any
# result: (2, 3, 4) ; [[0.33900001645088196, 0.4390000104904175, 0.5390000343322754, 0.6390000581741333], [1.5550000667572021, 1.65500009059906, 1.755000114440918, 1.8550001382827759]] ; 26.98

import jax
import jax.numpy as jnp


def attention(q, k, v):
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / jnp.sqrt(q.shape[-1])
    weights = jax.nn.softmax(scores, axis=-1)
    return weights @ v


t = jnp.arange(2 * 3 * 4.0).reshape(2, 3, 4)
q, k, v = jnp.sin(t), jnp.cos(t), t / 10.0
out = jax.vmap(attention)(q, k, v)
print(out.shape)
print(out[:, 0].round(3).tolist())
print(round(float(out.sum()), 2))
