# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently gives nan: the slope of arccos at 1 is infinite
# line: 17
# also-line: 26
# depends: -
# fix: stable_formula
# fixed-file: fixed/nan_angle_between_normals.py
# result: 0.4141 True

import jax
import jax.numpy as jnp


def angle(u, v):
    cosine = jnp.dot(u, v) / jnp.sqrt(jnp.dot(u, u) * jnp.dot(v, v))
    return jnp.arccos(jnp.clip(cosine, -1.0, 1.0))


def bending_energy(normals):
    angles = jax.vmap(angle)(normals[:-1], normals[1:])
    return jnp.sum(angles**2)


normals = jnp.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.8]])
gradient = jax.grad(bending_energy)(normals)
print(round(float(bending_energy(normals)), 4), bool(jnp.all(jnp.isfinite(gradient))))
