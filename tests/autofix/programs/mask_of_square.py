# error: NonConcreteBooleanIndexError
# line: 17
# depends: slope, points
# fix: where_mask_sum
# result: 0.5

import jax
import jax.numpy as jnp


class Robust:
    def __init__(self, limit):
        self.limit = limit

    def __call__(self, residual):
        inlier = jnp.abs(residual) < self.limit
        return jnp.mean(0.5 * residual[inlier] ** 2)


@jax.jit
def loss(slope, points):
    return Robust(4.0)(slope * points["x"] - points["y"])


points = {"x": jnp.array([1.0, 2.0, 3.0]), "y": jnp.array([3.0, 5.0, 90.0])}
print(round(float(loss(2.0, points)), 4))
