import numpy as np

import jax
import jax.numpy as jnp


def windows(signal, size, hop):
    for start in range(0, len(signal) - size + 1, hop):
        yield signal[start : start + size]


@jax.jit
def power(frame):
    w = jnp.hanning(frame.size)
    return jnp.abs(jnp.fft.rfft(w * frame)) ** 2


t = np.arange(256) / 64.0
signal = np.sin(2 * np.pi * 8 * t).astype(np.float32)
spectrogram = jnp.stack([power(f) for f in windows(signal, 64, 32)])
print(spectrogram.shape, spectrogram.argmax(axis=1).tolist())
