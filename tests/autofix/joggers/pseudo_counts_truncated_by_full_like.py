# error: none
# expect: DtypeTruncationWarning
# line: 16
# depends: -
# fix: any
# result: [[0.39100003242492676, 0.0430000014603138, 0.5649999976158142], [0.42900002002716064, 0.42900002002716064, 0.14300000667572021], [0.0430000014603138, 0.7390000224113464, 0.21700000762939453]] ; [0.5710000395774841, 0.8470000624656677, 0.3020000159740448]

import jax
import jax.numpy as jnp

counts = jnp.array([[4, 0, 6], [1, 1, 0], [0, 8, 2]])


@jax.jit
def smoothed(row):
    prior = jnp.full_like(row, 0.5)
    total = row + prior
    return total / total.sum()


probabilities = jax.vmap(smoothed)(counts)
print(probabilities.round(3).tolist())
surprise = -jnp.log(probabilities).max(axis=1)
print(surprise.round(3).tolist())
