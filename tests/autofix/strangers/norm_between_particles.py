# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently returns nan forces
# line: 22
# depends: positions
# fix: double_where
# trap: a norm over all axes gives one distance for all pairs
# probe: abs(float(energy(jnp.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]))) - 3.5) < 1e-3
# fixed-file: fixed/norm_between_particles.py
# result: 0.0119
# family: 1/norm-keywords

import jax
import jax.numpy as jnp

STIFFNESS = 0.5
REST = 2.0


def energy(positions):
    delta = positions[:, None, :] - positions[None, :, :]
    dist = jnp.linalg.norm(delta, axis=2)
    pairs = jnp.triu(jnp.ones_like(dist), k=1)
    springs = STIFFNESS * (dist - REST) ** 2
    return jnp.sum(pairs * springs) / jnp.sqrt(4.0)


forces = jax.jit(jax.grad(energy))
positions = jnp.array([[0.0, 0.0], [2.5, 0.0], [0.0, 1.0]])
for _ in range(20):
    positions = positions - 0.1 * forces(positions)
print(round(float(energy(positions)), 4))
