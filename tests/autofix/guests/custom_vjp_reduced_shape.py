# error: ValueError
# line: 26
# also-line: 31, 32
# depends: -
# fix: match_shape
# fixed-file: fixed/custom_vjp_reduced_shape.py
# result: [-0.6, -0.8] ; [0.0, 0.0]

import jax
import jax.numpy as jnp


@jax.custom_vjp
def safe_norm(x):
    return jnp.sqrt(jnp.sum(x**2))


def safe_norm_fwd(x):
    norm = safe_norm(x)
    return norm, (x, norm)


def safe_norm_bwd(residuals, g):
    x, norm = residuals
    direction = jnp.where(norm > 0.0, x / jnp.maximum(norm, 1e-12), 0.0)
    return (jnp.sum(g * direction),)


safe_norm.defvjp(safe_norm_fwd, safe_norm_bwd)

force = jax.grad(lambda r: -safe_norm(r))
print([round(float(f), 3) for f in force(jnp.array([3.0, 4.0]))])
print([float(f) + 0.0 for f in force(jnp.zeros(2))])
