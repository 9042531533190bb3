# One correct fixed version of pairs_on_the_diagonal.py
import jax
import jax.numpy as jnp


@jax.jit
def potential(positions):
    """Lennard-Jones energy of a small cluster."""
    offsets = positions[:, None, :] - positions[None, :, :]
    same = jnp.eye(len(positions), dtype=bool)
    squared = jnp.sum(offsets**2, axis=-1)
    squared = jnp.where(same, 1.0, squared)
    inverse = jnp.where(same, 0.0, 1.0 / squared**3)
    return 2.0 * jnp.sum(inverse**2 - inverse)


positions = jnp.array([[0.0, 0.0], [1.2, 0.0], [0.6, 1.0]])
for _ in range(100):
    positions = positions - 0.002 * jax.grad(potential)(positions)
print(round(float(potential(positions)), 2))
