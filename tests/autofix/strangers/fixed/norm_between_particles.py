# One correct fixed version of norm_between_particles.py
import jax
import jax.numpy as jnp

STIFFNESS = 0.5
REST = 2.0


def energy(positions):
    delta = positions[:, None, :] - positions[None, :, :]
    square = jnp.sum(delta**2, axis=2)
    apart = square > 0.0
    dist = jnp.where(apart, jnp.sqrt(jnp.where(apart, square, 1.0)), 0.0)
    pairs = jnp.triu(jnp.ones_like(dist), k=1)
    springs = STIFFNESS * (dist - REST) ** 2
    return jnp.sum(pairs * springs) / jnp.sqrt(4.0)


forces = jax.jit(jax.grad(energy))
positions = jnp.array([[0.0, 0.0], [2.5, 0.0], [0.0, 1.0]])
for _ in range(20):
    positions = positions - 0.1 * forces(positions)
print(round(float(energy(positions)), 4))
