# One correct fixed version of static_array_mask.py
import jax
import jax.numpy as jnp


@jax.jit
def masked_attention(query, keys, mask):
    scores = keys @ query / jnp.sqrt(query.shape[0])
    scores = jnp.where(mask, scores, -jnp.inf)
    return jax.nn.softmax(scores)


keys = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
mask = jnp.array([True, True, False])
weights = masked_attention(jnp.array([2.0, 1.0]), keys, mask)
print([round(float(w), 4) for w in weights])
