# One correct fixed version of nan_angle_between_normals.py
import jax
import jax.numpy as jnp


def angle(u, v):
    cosine = jnp.dot(u, v) / jnp.sqrt(jnp.dot(u, u) * jnp.dot(v, v))
    inside = jnp.abs(cosine) < 1.0
    safe = jnp.where(inside, cosine, 0.0)
    return jnp.where(inside, jnp.arccos(safe), jnp.where(cosine > 0.0, 0.0, jnp.pi))


def bending_energy(normals):
    angles = jax.vmap(angle)(normals[:-1], normals[1:])
    return jnp.sum(angles**2)


normals = jnp.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.6, 0.8]])
gradient = jax.grad(bending_energy)(normals)
print(round(float(bending_energy(normals)), 4), bool(jnp.all(jnp.isfinite(gradient))))
