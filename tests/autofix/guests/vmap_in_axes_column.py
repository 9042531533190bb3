# error: ValueError
# line: 22
# depends: sample, design
# fix: in_axes
# fixed-file: fixed/vmap_in_axes_column.py
# result: (3,) [-10.5, -8.12, -9.87]

import jax
import jax.numpy as jnp


def log_likelihood(sample, design):
    mean = design @ sample["coef"]
    return -0.5 * jnp.sum((mean / sample["sigma"]) ** 2) - jnp.log(sample["sigma"])


draws = {
    "coef": jnp.array([[0.5, 1.0], [0.4, 1.1], [0.6, 0.8]]),
    "sigma": jnp.array([1.0, 1.2, 0.9]),
}
design = jnp.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
pointwise = jax.vmap(log_likelihood)(draws, design)
print(pointwise.shape, [round(float(v), 3) for v in pointwise])
