# error: ValueError
# line: 23
# depends: -
# fix: positional_argument
# fixed-file: fixed/keyword_is_always_mapped.py
# result: [0.7746, 1.5166, 3.6742] ; [1.0, 0.0]
# family: in_axes/keyword-argument

import jax
import jax.numpy as jnp


def mahalanobis(x, mean, precision):
    d = x - mean
    return jnp.sqrt(d @ precision @ d)


points = jnp.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
mean = jnp.array([0.5, 0.5])
precision = jnp.array([[2.0, 0.3], [0.3, 1.0]])

distances = jax.vmap(mahalanobis, in_axes=(0, None, None))
print([round(float(d), 4) for d in distances(points, mean=mean, precision=precision)])


def nearest(points, mean, precision):
    return points[jnp.argmin(jax.vmap(mahalanobis, (0, None, None))(points, mean, precision))]


print(nearest(points, mean, precision).tolist())
