import jax
import jax.numpy as jnp


@jax.jit
def low_pass(signal, cutoff):
    spectrum = jnp.fft.rfft(signal)
    frequency = jnp.fft.rfftfreq(signal.shape[0])
    return jnp.fft.irfft(jnp.where(frequency < cutoff, spectrum, 0.0), n=signal.shape[0])


@jax.jit
def band_energy(signal, cutoff):
    return jnp.sum(low_pass(signal, cutoff) ** 2)


t = jnp.arange(64.0)
signal = jnp.sin(2 * jnp.pi * t / 16.0) + 0.3 * jnp.sin(2 * jnp.pi * t / 4.0)
smooth = low_pass(signal, 0.15)
print(bool(jnp.abs(smooth - jnp.sin(2 * jnp.pi * t / 16.0)).max() < 1e-3))
print(jax.grad(band_energy)(signal, 0.15).shape)
