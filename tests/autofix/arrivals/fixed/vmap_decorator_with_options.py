# One correct fixed version of vmap_decorator_with_options.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.vmap, in_axes=(0, None))
def project(point, plane):
    return point - jnp.dot(point, plane) * plane


points = jnp.arange(6.0).reshape(2, 3)
print(project(points, jnp.array([0.0, 0.0, 1.0])).tolist())
