# error: none
# expect: IntegerOverflowWarning
# line: 24
# depends: -
# fix: any
# result: 0.02 -37 dB ; 0.3 -13 dB ; 0.9 -4 dB

import jax
import jax.numpy as jnp
import numpy as np

RATE = 8000
FULL_SCALE = 32767


def synth_wav(freq, amplitude, seconds=0.5):
    """16 bit samples as they come out of the wave module."""
    t = np.arange(int(RATE * seconds)) / RATE
    return (amplitude * FULL_SCALE * np.sin(2 * np.pi * freq * t)).astype(np.int16)


def rms(block):
    wide = block.astype(jnp.int32)  # int16 ** 2 would overflow
    energy = jnp.sum(wide * wide)
    return jnp.sqrt(energy / block.size)


@jax.jit
def loudness(samples):
    blocks = samples.reshape(-1, RATE // 10)
    level = jax.vmap(rms)(blocks) / FULL_SCALE
    return 20 * jnp.log10(level)


for amplitude in (0.02, 0.3, 0.9):
    level = loudness(jnp.asarray(synth_wav(440.0, amplitude)))
    print(amplitude, f"{level.mean():.0f} dB")
