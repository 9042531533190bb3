# error: IndexError
# expect: IndexError | TracerIntegerConversionError | ConcretizationTypeError
# line: 19
# depends: onset
# fix: dynamic_slice
# fixed-file: fixed/window_around_event.py
# result: [0.0, 0.2573, 0.4853, 0.6646, 0.78, 0.8222]
# family: concretization/slice-start

import jax
import jax.numpy as jnp

signal = jnp.sin(0.3 * jnp.arange(60.0)) + 0.01 * jnp.arange(60.0)
WIDTH = 6


def epoch(onset):
    """The recording from this sample on, without its first value."""
    window = signal[onset : onset + WIDTH]
    return window - window[0]


@jax.jit
def evoked(onsets):
    return jax.vmap(epoch)(onsets).mean(axis=0)


print([round(float(v), 4) for v in evoked(jnp.array([3, 20, 41]))])
