# One correct fixed version of spike_times.py
"""Leaky integrate-and-fire neuron: simulate and read out spike times."""
import jax
import jax.numpy as jnp

DT = 0.5
TAU = 10.0
THRESHOLD = 1.0
MAX_SPIKES = 16


def lif_step(v, i):
    v = v + DT / TAU * (i - v)
    fired = v >= THRESHOLD
    return jnp.where(fired, 0.0, v), fired


@jax.jit
def spike_times(current):
    _, fired = jax.lax.scan(lif_step, jnp.float32(0.0), current)
    (steps,) = jnp.nonzero(fired, size=MAX_SPIKES, fill_value=0)
    return steps * DT, fired.sum()


def firing_rate(times, count):
    used = times[: int(count)]
    gaps = used[1:] - used[:-1]
    return 1000.0 / float(gaps.mean())


current = jnp.full(200, 1.8)
times, count = spike_times(current)
print("spikes", int(count))
print("first", round(float(times[0]), 2))
print("rate", round(firing_rate(times, count), 2))
