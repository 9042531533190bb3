# One correct fixed version of right_hand_sides_stacked.py
import jax
import jax.numpy as jnp


@jax.jit
def accelerations(mass, force):
    """One mass matrix and one force vector for each of four robots."""
    return jnp.linalg.solve(mass, force[..., None])[..., 0]


angles = jnp.array([0.0, 0.5, 1.0, 1.5])
off = 0.3 * jnp.cos(angles)
ones = jnp.ones_like(angles)
mass = jnp.stack([jnp.stack([ones, off], -1), jnp.stack([off, 0.5 * ones], -1)], -2)
force = jnp.stack([jnp.sin(angles), -ones], -1)
print([round(float(a), 4) for a in accelerations(mass, force).sum(axis=0)])
