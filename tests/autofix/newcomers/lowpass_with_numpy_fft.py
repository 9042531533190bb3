# error: TracerArrayConversionError
# line: 13
# depends: signal
# fix: jnp_instead_of_np
# result: (100,) 0.005

import jax
import jax.numpy as jnp
import numpy as np


def lowpass(signal, cutoff, rate=100.0):
    spectrum = np.fft.rfft(signal)
    freqs = np.fft.rfftfreq(signal.shape[-1], 1.0 / rate)
    return jnp.fft.irfft(spectrum * (freqs <= cutoff), n=signal.shape[-1])


def roughness(signal):
    return jnp.mean(jnp.diff(lowpass(signal, 10.0)) ** 2)


t = np.arange(100) / 100.0
signal = jnp.asarray(np.sin(2 * np.pi * 3 * t) + 0.5 * np.sin(2 * np.pi * 30 * t), jnp.float32)
g = jax.grad(roughness)(signal)
print(g.shape, round(float(jnp.linalg.norm(g)), 4))
