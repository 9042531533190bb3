# error: TypeError
# line: 37
# also-line: 23
# depends: -
# fix: match_signature
# result: 41.265

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def clip_gradient(x, bound):
    return x


def clip_gradient_fwd(x, bound):
    return x, None


def clip_gradient_bwd(residuals, g):
    return (jnp.clip(g, -1.0, 1.0),)


clip_gradient.defvjp(clip_gradient_fwd, clip_gradient_bwd)


def unrolled_loss(w):
    h = jnp.array(1.0)
    for _ in range(6):
        h = clip_gradient(w * h, 1.0)
    return h**2


print(round(float(jax.grad(unrolled_loss)(jnp.array(1.8))), 3))
