# One correct fixed version of vmap_in_axes_too_short.py
import jax
import jax.numpy as jnp


def render_ray(origin, direction, near, far):
    depth = jnp.linspace(near, far, 16)
    points = origin + depth[:, None] * direction
    density = jnp.exp(-4.0 * (jnp.linalg.norm(points, axis=-1) - 1.0) ** 2)
    return jnp.sum(density) * (far - near) / 16


render = jax.vmap(render_ray, in_axes=(0, 0, None, None))

origins = jnp.array([[0.0, 0.0, -3.0], [0.5, 0.0, -3.0]])
directions = jnp.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
print([round(float(v), 3) for v in render(origins, directions, 1.0, 5.0)])
