# error: IndexError
# line: 13
# depends: start
# fix: any
# result: [1.6666667461395264, 25.666667938232422, 49.66666793823242]

import jax
import jax.numpy as jnp


@jax.jit
def window_mean(series, start, length):
    window = series[start : start + length]
    return window.mean()


series = jnp.arange(10.0) ** 2
print([float(window_mean(series, s, 3)) for s in (0, 4, 6)])
