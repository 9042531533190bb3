import jax
import jax.numpy as jnp


def scene(p):
    sphere = jnp.linalg.norm(p - jnp.array([0.0, 0.5, 3.0])) - 1.0
    floor = p[1] + 1.0
    return jnp.minimum(sphere, floor)


def march(direction):
    direction = direction / jnp.linalg.norm(direction)

    def step(depth, _):
        return depth + scene(depth * direction), None

    depth, _ = jax.lax.scan(step, 0.0, None, length=60)
    return depth


xs = jnp.linspace(-0.4, 0.4, 3)
pixels = jnp.stack([xs, jnp.array([0.0, 0.2, -0.6]), jnp.ones(3)], axis=1)
depths = jax.vmap(march)(pixels)
normals = jax.vmap(jax.grad(scene))(depths[:, None] * jnp.array([[0.0, 0.0, 1.0]]))
print(depths.round(1).tolist())
print(normals.round(1).tolist())
