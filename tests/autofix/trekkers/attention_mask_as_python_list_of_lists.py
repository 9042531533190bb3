# error: TypeError
# line: 15
# depends: -
# fix: any
# result: [[1.0, 0.0, 0.0], [0.26900002360343933, 0.7310000061988831, 0.0], [0.2120000123977661, 0.2120000123977661, 0.5760000348091125]]

import jax
import jax.numpy as jnp


@jax.jit
def attend(q, k, v):
    n = q.shape[0]
    mask = [[j <= i for j in range(n)] for i in range(n)]
    scores = jnp.where(mask, q @ k.T, -jnp.inf)
    return jax.nn.softmax(scores) @ v


x = jnp.eye(3)
print(attend(x, x, x).round(3).tolist())
