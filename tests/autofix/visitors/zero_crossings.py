# error: ConcretizationTypeError
# line: 17
# depends: signal
# fix: size
# fixed-file: fixed/zero_crossings.py
# result: 1.0
# family: concretization/nonzero

import jax
import jax.numpy as jnp


@jax.jit
def period(signal, dt):
    """Mean time between upward crossings of zero; the recordings have eight of them."""
    upward = (signal[:-1] < 0.0) & (signal[1:] >= 0.0)
    where = jnp.nonzero(upward)[0]
    return jnp.mean(jnp.diff(where)) * dt


t = jnp.linspace(0.1, 8.1, 801)
signal = jnp.sin(2.0 * jnp.pi * t)
print(round(float(period(signal, 0.01)), 3))
