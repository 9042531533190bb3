from functools import partial

import jax
import jax.numpy as jnp


class Spectrogram:
    def __init__(self, fs, floor_db=-60.0):
        self.fs = fs
        self.floor_db = floor_db

    @partial(jax.jit, static_argnums=(0, 2, 3))
    def power(self, x, size, hop):
        starts = jnp.arange(0, x.shape[0] - size + 1, hop)
        frames = x[starts[:, None] + jnp.arange(size)]
        spectrum = jnp.fft.rfft(frames * jnp.hanning(size), axis=-1)
        return jnp.abs(spectrum) ** 2

    def decibels(self, x, size=64, hop=32):
        p = self.power(x, size, hop)
        db = 10 * jnp.log10(p / p.max() + 1e-12)
        return jnp.maximum(db, self.floor_db)

    def peak_hz(self, x, size=64, hop=32):
        freqs = jnp.fft.rfftfreq(size, 1 / self.fs)
        return freqs[jnp.argmax(self.decibels(x, size, hop), axis=1)]


fs = 640.0
t = jnp.arange(256) / fs
chirp = jnp.where(t < 0.2, jnp.sin(2 * jnp.pi * 50 * t), jnp.sin(2 * jnp.pi * 200 * t))
print(Spectrogram(fs).peak_hz(chirp).tolist())
