# error: ValueError
# expect: ValueError | TypeError
# line: 25
# also-line: 16
# depends: mask
# fix: traced_argument
# fixed-file: fixed/static_array_mask.py
# result: [0.6698, 0.3302, 0.0]

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(2,))
def masked_attention(query, keys, mask):
    scores = keys @ query / jnp.sqrt(query.shape[0])
    scores = jnp.where(mask, scores, -jnp.inf)
    return jax.nn.softmax(scores)


keys = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
mask = jnp.array([True, True, False])
weights = masked_attention(jnp.array([2.0, 1.0]), keys, mask)
print([round(float(w), 4) for w in weights])
