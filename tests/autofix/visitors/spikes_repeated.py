# error: ConcretizationTypeError
# line: 19
# depends: counts
# fix: total_length
# fixed-file: fixed/spikes_repeated.py
# result: [0.1, 1.4375, -0.4125]
# family: concretization/repeat

import jax
import jax.numpy as jnp

# at most this many spikes in one bin train
CAPACITY = 12


@jax.jit
def mean_waveform(shapes, counts):
    """The mean of unit waveforms, each as often as its unit fired."""
    stacked = jnp.repeat(shapes, counts, axis=0)
    return stacked.mean(axis=0)


shapes = jnp.array([[0.0, 1.0, -0.5], [0.0, 0.5, -1.0], [0.2, 2.0, -0.2]])
counts = jnp.array([3, 1, 4])
print([round(float(v), 4) for v in mean_waveform(shapes, counts)])
