# One correct fixed version of spikes_repeated.py
import jax
import jax.numpy as jnp

# at most this many spikes in one bin train
CAPACITY = 12


@jax.jit
def mean_waveform(shapes, counts):
    """The mean of unit waveforms, each as often as its unit fired."""
    stacked = jnp.repeat(shapes, counts, axis=0, total_repeat_length=CAPACITY)
    valid = jnp.arange(CAPACITY) < counts.sum()
    return jnp.mean(stacked, axis=0, where=valid[:, None])


shapes = jnp.array([[0.0, 1.0, -0.5], [0.0, 0.5, -1.0], [0.2, 2.0, -0.2]])
counts = jnp.array([3, 1, 4])
print([round(float(v), 4) for v in mean_waveform(shapes, counts)])
