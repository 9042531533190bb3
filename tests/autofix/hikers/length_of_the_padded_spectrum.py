# error: TracerIntegerConversionError
# line: 14
# depends: padded
# fix: any
# result: [1.0, 0.10000000149011612, 0.34300002455711365, -0.44300001859664917, -0.14300000667572021, -0.3570000231266022]

import jax
import jax.numpy as jnp


@jax.jit
def autocorrelation(signal, padded):
    centered = signal - signal.mean()
    spectrum = jnp.fft.rfft(centered, n=padded)
    power = spectrum * jnp.conj(spectrum)
    lags = jnp.fft.irfft(power, n=padded)[: signal.shape[0]]
    return lags / lags[0]


signal = jnp.array([1.0, 3.0, 2.0, 5.0, 4.0, 6.0])
print(autocorrelation(signal, 16).round(3).tolist())
