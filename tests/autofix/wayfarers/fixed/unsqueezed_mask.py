# One correct fixed version of unsqueezed_mask.py
import jax
import jax.numpy as jnp


def pooled(tokens, lengths):
    mask = jnp.arange(tokens.shape[1]) < lengths[:, None]
    weights = mask[..., None].astype(tokens.dtype)
    return (tokens * weights).sum(axis=1) / weights.sum(axis=1)


tokens = jnp.arange(12.0).reshape(2, 3, 2)
print(pooled(tokens, jnp.array([1, 3])).tolist())
