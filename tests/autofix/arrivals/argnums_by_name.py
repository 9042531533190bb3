# error: TypeError
# expect: TypeError | ValueError
# line: 18
# also-line: 19
# depends: -
# fix: argnums
# result: [1.12, -0.68, -0.44]

import jax
import jax.numpy as jnp


def energy(positions, charges):
    d = positions[:, None] - positions[None, :] + jnp.eye(len(positions))
    return jnp.sum(charges[:, None] * charges[None, :] / (1 + d**2))


force = jax.grad(energy, argnums="positions")
print([round(float(f), 4) for f in force(jnp.array([0.0, 1.0, 3.0]), jnp.ones(3))])
