# error: ValueError
# line: 18
# also-line: 14
# depends: -
# fix: any
# result: [0.5260000228881836, 0.8510000109672546]

import jax
import jax.numpy as jnp


def power_iteration(matrix, steps=50):
    def body(vector, i):
        vector = matrix @ vector
        return vector / jnp.linalg.norm(vector)

    x = jnp.ones(matrix.shape[0])
    return jax.lax.fori_loop(0, steps, body, x)


matrix = jnp.array([[2.0, 1.0], [1.0, 3.0]])
print(power_iteration(matrix).round(3).tolist())
