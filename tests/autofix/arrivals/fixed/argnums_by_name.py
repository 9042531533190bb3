# One correct fixed version of argnums_by_name.py
import jax
import jax.numpy as jnp


def energy(positions, charges):
    d = positions[:, None] - positions[None, :] + jnp.eye(len(positions))
    return jnp.sum(charges[:, None] * charges[None, :] / (1 + d**2))


force = jax.grad(energy, argnums=0)
print([round(float(f), 4) for f in force(jnp.array([0.0, 1.0, 3.0]), jnp.ones(3))])
