from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("training", "rate"))
def block(x, key, training, rate=0.5):
    h = jnp.tanh(x)
    if training and rate > 0.0:
        keep = jax.random.bernoulli(key, 1.0 - rate, h.shape)
        h = jnp.where(keep, h / (1.0 - rate), 0.0)
    return h


x = jnp.linspace(-1.0, 1.0, 32)
train = block(x, jax.random.key(0), training=True)
test = block(x, jax.random.key(1), training=False)
print(bool(jnp.any(train == 0.0)), round(float(test[-1]), 4))
