# error: TracerArrayConversionError
# line: 18
# depends: depth
# fix: jax_scipy
# fixed-file: fixed/interpolation_by_scipy.py
# result: 10.6667
# family: 3/scipy-on-traced

import jax
import jax.numpy as jnp
import numpy as np
from scipy.ndimage import map_coordinates

GRID = np.array([0.0, 1.0, 4.0, 9.0, 16.0])


def temperature(depth):
    return jnp.asarray(map_coordinates(GRID, depth[None], order=1))


@jax.jit
def heat_flow(depth):
    profile = temperature(depth)
    return jnp.sum(jnp.diff(profile) / jnp.diff(depth))


print(round(float(heat_flow(jnp.array([0.5, 1.5, 2.25, 3.0]))), 4))
