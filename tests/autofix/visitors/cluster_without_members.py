# error: none
# expect: NaNWarning
# jax-differs: jax silently divides zero by zero
# line: 21
# depends: centers
# fix: guard_division
# fixed-file: fixed/cluster_without_members.py
# result: [0.1, 0.05] True
# family: silent/nan-forward-empty-mean

import jax
import jax.numpy as jnp

points = jnp.array([[0.0, 0.1], [0.2, 0.0], [4.0, 4.1], [4.2, 3.9]])


@jax.jit
def lloyd(centers):
    distance = jnp.sum((points[:, None] - centers[None]) ** 2, axis=-1)
    member = jax.nn.one_hot(jnp.argmin(distance, axis=1), centers.shape[0])
    return (member.T @ points) / member.sum(axis=0)[:, None]


centers = jnp.array([[0.0, 0.0], [5.0, 5.0], [40.0, 40.0]])
for _ in range(3):
    centers = lloyd(centers)
print([round(float(v), 3) for v in centers[0]], bool(jnp.all(jnp.isfinite(centers))))
