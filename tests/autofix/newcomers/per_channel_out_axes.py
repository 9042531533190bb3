# error: ValueError
# line: 18
# depends: -
# fix: out_axes
# result: [16.0, 16.0, 16.0]

import jax
import jax.numpy as jnp


def channel_energy(channel):
    spectrum = jnp.fft.rfft(channel)
    return jnp.sum(jnp.abs(spectrum) ** 2) / channel.size


def energies(recording):
    """recording: (samples, channels)"""
    return jax.vmap(channel_energy, in_axes=1, out_axes=1)(recording)


t = jnp.arange(64) / 64.0
recording = jnp.stack([jnp.sin(2 * jnp.pi * k * t) for k in (1, 2, 3)], axis=1)
print(energies(recording).round(3).tolist())
