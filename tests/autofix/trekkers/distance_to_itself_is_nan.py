# error: none
# expect: NaNGradientWarning
# jax-differs: nan
# line: 15
# depends: -
# fix: any
# result: [[0.0, -4.0], [2.2110002040863037, -4.422000408172607], [-2.2110002040863037, 8.42199993133545]]

import jax
import jax.numpy as jnp


def distances(points):
    difference = points[:, None] - points[None]
    return jnp.sqrt((difference**2).sum(-1))


def stress(points, wanted):
    return ((distances(points) - wanted) ** 2).sum()


points = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
wanted = jnp.ones((3, 3)) - jnp.eye(3)
print(jax.grad(stress)(points, wanted).round(3).tolist())
