# error: TypeError
# line: 17
# also-line: 22
# depends: taps, signal
# fix: real_loss
# fixed-file: fixed/spectrum_as_loss.py
# result: [-0.003, 0.998, -0.003]
# family: 3/complex-loss

import jax
import jax.numpy as jnp


def power_gap(taps, signal):
    response = jnp.fft.fft(taps, n=signal.shape[0])
    error = response * jnp.fft.fft(signal) - jnp.fft.fft(jnp.roll(signal, 1))
    return jnp.mean(error * jnp.conj(error))


@jax.jit
def adapt(taps, signal):
    return taps - 0.02 * jax.grad(power_gap)(taps, signal)


signal = jnp.array([1.0, 0.0, -1.0, 0.5, 0.2, -0.3])
taps = jnp.zeros(3)
for _ in range(200):
    taps = adapt(taps, signal)
print([round(float(t), 3) for t in taps])
