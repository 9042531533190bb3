# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently gives nan: the norm of a zero vector has no derivative
# line: 17
# also-line: 19, 23
# depends: positions
# fix: double_where
# fixed-file: fixed/nan_pairwise_norm.py
# result: [[-0.3679, -0.1353], [0.4157, -0.0956], [-0.0478, 0.2309]]

import jax
import jax.numpy as jnp


def repulsion(positions):
    offsets = positions[:, None, :] - positions[None, :, :]
    distance = jnp.linalg.norm(offsets, axis=-1)
    other = ~jnp.eye(positions.shape[0], dtype=bool)
    return 0.5 * jnp.sum(jnp.where(other, jnp.exp(-distance), 0.0))


positions = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
forces = -jax.grad(repulsion)(positions)
print([[round(float(f), 4) for f in row] for row in forces])
