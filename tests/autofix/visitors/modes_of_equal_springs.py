# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently returns nan gradients
# line: 19
# also-line: 26
# depends: stiffness
# fix: eigenvalues_only
# fixed-file: fixed/modes_of_equal_springs.py
# result: [0.25, 0.25, 0.25] ; [0.23, 0.23, 0.23]
# family: silent/nan-gradient-eigh

import jax
import jax.numpy as jnp


def zero_point_energy(stiffness, coupling):
    """Half the sum of the frequencies of three oscillators on a ring."""
    matrix = jnp.diag(stiffness + 2.0 * coupling) - coupling * (1.0 - jnp.eye(3))
    squares, modes = jnp.linalg.eigh(matrix)
    root = modes @ jnp.diag(jnp.sqrt(squares)) @ modes.T
    return 0.5 * jnp.trace(root)


stiffness = jnp.array([1.0, 1.0, 1.0])
for coupling in (0.0, 0.1):
    slope = jax.grad(zero_point_energy)(stiffness, coupling)
    print([round(float(g), 3) for g in slope])
