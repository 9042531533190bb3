# error: ValueError
# line: 17
# depends: -
# fix: any
# result: [[0.12000000476837158, 0.1600000113248825], [0.18000000715255737, 0.24000000953674316], [0.0, 0.5]] [0.30000001192092896, 0.9000000357627869]

import jax
import jax.numpy as jnp


def weigh(vector, share):
    return share * vector / jnp.linalg.norm(vector)


vectors = jnp.array([[3.0, 4.0], [6.0, 8.0], [0.0, 2.0]])
shares = jnp.array([0.2, 0.3, 0.5])
weighted = jax.vmap(weigh, in_axes=(1, 0))(vectors, shares)
print(weighted.round(3).tolist(), weighted.sum(axis=0).round(3).tolist())
