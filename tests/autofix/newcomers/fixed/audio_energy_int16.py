import jax
import jax.numpy as jnp
import numpy as np


def synth(freq, seconds=0.05, rate=8000, amplitude=12000):
    t = np.arange(int(seconds * rate)) / rate
    return (amplitude * np.sin(2 * np.pi * freq * t)).astype(np.int16)


def frames(signal, size):
    return signal[: signal.size // size * size].reshape(-1, size)


@jax.jit
def rms(frame):
    frame = frame.astype(jnp.float32)
    return jnp.sqrt(jnp.mean(frame * frame))


pcm = frames(jnp.asarray(synth(440.0)), 100)
print([round(float(r), 1) for r in jax.vmap(rms)(pcm)])
