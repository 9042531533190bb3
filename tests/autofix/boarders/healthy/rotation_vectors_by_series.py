# error: none
# expect: none
# result: [-2.0, -1.0799999237060547]

import jax
import jax.numpy as jnp


def rotate(vector, point):
    square = vector @ vector
    small = square < 1e-8
    angle = jnp.sqrt(jnp.where(small, 1.0, square))
    first = jnp.where(small, 1.0 - square / 6.0, jnp.sin(angle) / angle)
    second = jnp.where(small, 0.5 - square / 24.0, (1.0 - jnp.cos(angle)) / angle**2)
    turned = jnp.cross(vector, point)
    return point + first * turned + second * jnp.cross(vector, turned)


def misfit(vector, point, target):
    return jnp.sum((rotate(vector, point) - target) ** 2)


point, target = jnp.array([1.0, 0.0, 0.0]), jnp.array([0.0, 1.0, 0.0])
vectors = jnp.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
slopes = jax.vmap(jax.grad(misfit), in_axes=(0, None, None))(vectors, point, target)
print(slopes[:, 2].round(2).tolist())
