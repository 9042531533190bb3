# error: ValueError
# line: 32
# also-line: 34
# depends: -
# fix: any
# result: (2, 3) [2, 2] [15, 0, 71]

import jax
import jax.numpy as jnp

fs = 100.0
t = jnp.arange(200) / fs
signal = jnp.sin(2 * jnp.pi * 5 * t) + 0.5 * jnp.sin(2 * jnp.pi * 20 * t)

bank = {
    "center": jnp.array([5.0, 12.0, 20.0]),
    "width": jnp.array([1.0, 1.5, 2.0]),
    "gain": jnp.array([1.0, 2.0, 4.0]),
    "order": 2,
}


def band_energy(band, spectrum, freqs):
    z = ((freqs - band["center"]) / band["width"]) ** (2 * band["order"])
    response = band["gain"] / jnp.sqrt(1.0 + z)
    return jnp.sum(jnp.abs(response * spectrum) ** 2) / spectrum.size


def analyse(bank, frames):
    freqs = jnp.fft.rfftfreq(frames.shape[-1], 1 / fs)
    spectra = jnp.fft.rfft(frames * jnp.hanning(frames.shape[-1]))
    per_band = jax.vmap(band_energy, in_axes=({"center": 0, "width": 0, "gain": 0}, None, None))
    per_frame = jax.vmap(per_band, in_axes=(None, 0, None))
    return per_frame(bank, spectra, freqs)


energy = analyse(bank, signal.reshape(2, 100))
print(energy.shape, jnp.argmax(energy, axis=1).tolist(), [round(v) for v in energy[0].tolist()])
