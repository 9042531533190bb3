from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="padded")
def autocorrelation(signal, padded):
    centered = signal - signal.mean()
    spectrum = jnp.fft.rfft(centered, n=padded)
    power = spectrum * jnp.conj(spectrum)
    lags = jnp.fft.irfft(power, n=padded)[: signal.shape[0]]
    return lags / lags[0]


signal = jnp.array([1.0, 3.0, 2.0, 5.0, 4.0, 6.0])
print(autocorrelation(signal, 16).round(3).tolist())
