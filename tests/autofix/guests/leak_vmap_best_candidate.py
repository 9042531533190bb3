# error: UnexpectedTracerError
# line: 18
# also-line: 25
# depends: theta
# fix: return_value
# fixed-file: fixed/leak_vmap_best_candidate.py
# result: 3 -60.95

import jax
import jax.numpy as jnp

diagnostics = {}


def energy(theta):
    radius = jnp.linalg.norm(theta)
    angle = jnp.arctan2(theta[1], theta[0])
    diagnostics["angle"] = angle
    return (radius - 1.0) ** 2 + 0.1 * jnp.cos(3.0 * angle)


candidates = jnp.array([[1.0, 0.0], [0.0, 1.2], [-0.7, 0.7], [0.5, -0.9]])
energies = jax.vmap(energy)(candidates)
best = jnp.argmin(energies)
print(int(best), round(float(jnp.degrees(diagnostics["angle"])[best]), 2))
