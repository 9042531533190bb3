# error: TracerBoolConversionError
# line: 13
# depends: -
# fix: any
# result: [3.0, 0.0, 1.5, 0.0] ; 4.5

import jax
import jax.numpy as jnp


def detector_signal(photon):
    x, y, energy = photon
    inside = (jnp.abs(x) < 1.0) and (jnp.abs(y) < 0.5)
    return jnp.where(inside, energy, 0.0)


photons = jnp.array([
    [0.2, 0.1, 3.0],
    [1.4, 0.0, 2.0],
    [-0.9, -0.4, 1.5],
    [0.3, 0.8, 2.5],
])
signal = jax.vmap(detector_signal)(photons)
print(signal.tolist())
print(round(float(signal.sum()), 2))
