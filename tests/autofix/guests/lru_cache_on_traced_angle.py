# error: TypeError
# line: 22
# also-line: 15
# depends: theta
# fix: remove_cache
# fixed-file: fixed/lru_cache_on_traced_angle.py
# result: 1.571

from functools import lru_cache

import jax
import jax.numpy as jnp


@lru_cache(maxsize=None)
def rotation(theta):
    c, s = jnp.cos(theta), jnp.sin(theta)
    return jnp.array([[c, -s], [s, c]])


def alignment(theta, source, target):
    turned = source @ rotation(theta).T
    return jnp.sum((turned - target) ** 2)


source = jnp.array([[1.0, 0.0], [0.0, 2.0]])
target = jnp.array([[0.0, 1.0], [-2.0, 0.0]])
step = jax.jit(jax.grad(alignment))
theta = 1.0
for _ in range(20):
    theta = theta - 0.05 * step(theta, source, target)
print(round(float(theta), 3))
