# error: UnexpectedTracerError
# line: 34
# also-line: 16
# depends: -
# fix: nondiff_argnums
# fixed-file: fixed/custom_jvp_mask_nondiff.py
# result: (12,) 2.0232

"""Masked diffusion where the mask must not be differentiated."""
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def masked(field, mask):
    return field * mask


@masked.defjvp
def masked_jvp(mask, primals, tangents):
    (field,), (dfield,) = primals, tangents
    return field * mask, dfield * mask


def laplace(u):
    return jnp.roll(u, 1) + jnp.roll(u, -1) - 2 * u


def evolve(field, mask, steps=5):
    def step(carry, _):
        u, m = carry
        u = masked(u + 0.2 * laplace(u), m)
        return (u, m), None

    (u, _), _ = jax.lax.scan(step, (field, mask), None, length=steps)
    return jnp.sum(u ** 2)


field = jnp.sin(jnp.arange(12.0))
mask = (jnp.arange(12) % 4 != 0).astype(jnp.float32)
g = jax.grad(evolve)(field, mask)
print(g.shape, round(float(jnp.abs(g).sum()), 4))
