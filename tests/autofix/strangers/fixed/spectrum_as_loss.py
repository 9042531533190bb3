# One correct fixed version of spectrum_as_loss.py
import jax
import jax.numpy as jnp


def power_gap(taps, signal):
    response = jnp.fft.fft(taps, n=signal.shape[0])
    error = response * jnp.fft.fft(signal) - jnp.fft.fft(jnp.roll(signal, 1))
    return jnp.mean(error * jnp.conj(error)).real


@jax.jit
def adapt(taps, signal):
    return taps - 0.02 * jax.grad(power_gap)(taps, signal)


signal = jnp.array([1.0, 0.0, -1.0, 0.5, 0.2, -0.3])
taps = jnp.zeros(3)
for _ in range(200):
    taps = adapt(taps, signal)
print([round(float(t), 3) for t in taps])
