# One correct fixed version of window_around_event.py
import jax
import jax.numpy as jnp

signal = jnp.sin(0.3 * jnp.arange(60.0)) + 0.01 * jnp.arange(60.0)
WIDTH = 6


def epoch(onset):
    """The recording from this sample on, without its first value."""
    window = jax.lax.dynamic_slice_in_dim(signal, onset, WIDTH)
    return window - window[0]


@jax.jit
def evoked(onsets):
    return jax.vmap(epoch)(onsets).mean(axis=0)


print([round(float(v), 4) for v in evoked(jnp.array([3, 20, 41]))])
