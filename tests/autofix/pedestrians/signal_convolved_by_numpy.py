# error: TracerArrayConversionError
# expect: TracerArrayConversionError
# line: 14
# depends: taps
# fix: jnp
# result: [6.500000476837158, -10.0, 2.0]

import jax
import jax.numpy as jnp
import numpy as np


def roughness(taps, signal):
    filtered = np.convolve(signal, taps, mode="same")
    return jnp.sum((signal - filtered) ** 2)


signal = jnp.array([0.0, 1.0, 0.0, 2.0, 1.0, 3.0])
print(jax.grad(roughness)(jnp.array([0.25, 0.5, 0.25]), signal).round(3).tolist())
