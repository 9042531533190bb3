# One correct fixed version of scores_without_transpose.py
import jax
import jax.numpy as jnp


def attend(q, k, v):
    scores = q @ k.mT / jnp.sqrt(q.shape[-1])
    return jax.nn.softmax(scores, axis=-1) @ v


def rows(shift):
    return jnp.sin(jnp.arange(24.0) + shift).reshape(2, 3, 4)


out = jax.jit(attend)(rows(0.0), rows(1.0), rows(2.0))
print(out.shape, round(float(out.sum()), 4))
