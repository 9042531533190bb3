# One correct fixed version of conc_spike_times.py
import jax
import jax.numpy as jnp

DT = 0.5  # milliseconds


@jax.jit
def mean_interval(trace, threshold):
    above = trace > threshold
    onset = above[1:] & ~above[:-1]
    times = jnp.arange(onset.shape[0]) * DT
    first = jnp.min(times, initial=jnp.inf, where=onset)
    last = jnp.max(times, initial=-jnp.inf, where=onset)
    return (last - first) / (onset.sum() - 1)


t = jnp.arange(0.0, 20.0, DT)
trace = jnp.sin(2 * jnp.pi * t / 4.0)
print(round(float(mean_interval(trace, 0.5)), 3))
