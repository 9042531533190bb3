# error: none
# expect: NaNWarning | FloatingPointError
# jax-differs: jax silently divides 0 by 0
# line: 18
# depends: -
# fix: where
# fixed-file: fixed/nan_empty_cluster_mean.py
# result: [[1.0, 2.0], [0.0, 0.0], [10.0, 10.0]]

import jax
import jax.numpy as jnp


@jax.jit
def cluster_means(points, labels):
    count = jnp.zeros(3).at[labels].add(1.0)
    total = jnp.zeros((3, points.shape[1])).at[labels].add(points)
    return total / count[:, None]


points = jnp.array([[0.0, 1.0], [2.0, 3.0], [10.0, 10.0]])
means = cluster_means(points, jnp.array([0, 0, 2]))
print([[round(float(v), 3) for v in row] for row in means])
