# error: TypeError
# line: 21
# also-line: 15
# depends: -
# fix: drop_cache
# result: 0.7316

from functools import lru_cache

import jax
import jax.numpy as jnp


@lru_cache(maxsize=32)
def gram(points):
    d = points[:, None] - points[None, :]
    return jnp.exp(-(d**2))


def evidence(points, y):
    k = gram(points) + 0.1 * jnp.eye(len(points))
    return y @ jnp.linalg.solve(k, y)


points = jnp.linspace(0, 1, 5)
print(round(float(evidence(points, jnp.sin(points))), 4))
