# error: none
# expect: UnrolledLoopWarning
# jax-differs: jax silently traces the function once for each row
# line: 24
# depends: -
# fix: vmap
# fixed-file: fixed/one_row_at_a_time.py
# result: 0.236
# family: silent/unrolled-comprehension

import jax
import jax.numpy as jnp

points = jnp.sin(jnp.arange(360.0)).reshape(120, 3)
query = jnp.array([0.1, 0.2, 0.3])


def affinity(point, query):
    return jnp.exp(-jnp.sum((point - query) ** 2))


@jax.jit
def density(points, query):
    values = jnp.stack([affinity(point, query) for point in points])
    return values.mean()


print(round(float(density(points, query)), 4))
