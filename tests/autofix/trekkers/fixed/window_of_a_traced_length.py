import jax
import jax.numpy as jnp


def window_mean(series, start, length):
    window = series[start : start + length]
    return window.mean()


series = jnp.arange(10.0) ** 2
print([float(window_mean(series, s, 3)) for s in (0, 4, 6)])
