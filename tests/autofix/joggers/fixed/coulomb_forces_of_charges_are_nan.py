import jax
import jax.numpy as jnp

charges = jnp.array([1.0, -1.0, 2.0])


def energy(positions):
    difference = positions[:, None] - positions[None]
    r = jnp.sqrt(jnp.sum(difference ** 2, axis=-1) + jnp.eye(3))
    products = charges[:, None] * charges[None]
    pairs = jnp.where(jnp.eye(3) > 0, 0.0, products / r)
    return 0.5 * jnp.sum(pairs)


positions = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
print(round(float(energy(positions)), 3))
forces = -jax.grad(energy)(positions)
print(forces.round(3).tolist())
