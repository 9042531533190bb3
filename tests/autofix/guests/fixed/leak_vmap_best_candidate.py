# One correct fixed version of leak_vmap_best_candidate.py
import jax
import jax.numpy as jnp

def energy(theta):
    radius = jnp.linalg.norm(theta)
    angle = jnp.arctan2(theta[1], theta[0])
    return (radius - 1.0) ** 2 + 0.1 * jnp.cos(3.0 * angle), angle


candidates = jnp.array([[1.0, 0.0], [0.0, 1.2], [-0.7, 0.7], [0.5, -0.9]])
energies, angles = jax.vmap(energy)(candidates)
best = jnp.argmin(energies)
print(int(best), round(float(jnp.degrees(angles)[best]), 2))
