# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently gives the encoder a gradient of zero
# line: 24
# also-line: 34
# depends: -
# fix: stop_gradient
# result: -0.704

from functools import partial

import jax
import jax.numpy as jnp

CODEBOOK = jnp.array([-1.0, 0.0, 1.0])


def nearest(z):
    return CODEBOOK[jnp.argmin((z[..., None] - CODEBOOK) ** 2, axis=-1)]


def quantize(z):
    q = nearest(z)
    return q + jax.lax.stop_gradient(z - q)


@partial(jax.grad, argnums=0)
def encoder_grad(w, x):
    return jnp.mean((quantize(jnp.tanh(w * x)) - x) ** 2)


w = jnp.array(0.3)
x = jnp.array([-0.9, -0.2, 0.1, 0.8])
print(round(float(encoder_grad(w, x)), 4))
