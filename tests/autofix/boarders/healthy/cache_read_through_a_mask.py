# error: none
# expect: none
# result: (5, 3) True

import jax
import jax.numpy as jnp


def decode_step(carry, token):
    cache, position = carry
    cache = jax.lax.dynamic_update_slice_in_dim(cache, token[None], position, axis=0)
    scores = jnp.where(jnp.arange(cache.shape[0]) <= position, cache @ token, -jnp.inf)
    return (cache, position + 1), jax.nn.softmax(scores) @ cache


@jax.jit
def loss(tokens):
    start = (jnp.zeros_like(tokens), 0)
    return jnp.mean(jax.lax.scan(decode_step, start, tokens)[1] ** 2)


tokens = jnp.sin(jnp.arange(15.0)).reshape(5, 3)
gradient = jax.grad(loss)(tokens)
print(gradient.shape, bool(jnp.all(jnp.isfinite(gradient))))
