# error: ConcretizationTypeError
# line: 18
# depends: trace, threshold
# fix: size_arg
# fixed-file: fixed/conc_spike_times.py
# result: 4.0

import jax
import jax.numpy as jnp

DT = 0.5  # milliseconds


@jax.jit
def mean_interval(trace, threshold):
    above = trace > threshold
    onset = above[1:] & ~above[:-1]
    times = jnp.where(onset)[0] * DT
    return jnp.diff(times).mean()


t = jnp.arange(0.0, 20.0, DT)
trace = jnp.sin(2 * jnp.pi * t / 4.0)
print(round(float(mean_interval(trace, 0.5)), 3))
