# One correct fixed version of timer_decorator.py
import functools
import time

import jax
import jax.numpy as jnp

timings = {}


def timed(function):
    @functools.wraps(function)
    def wrapper(*args):
        begin = time.time()
        result = jax.block_until_ready(function(*args))
        timings.setdefault(function.__name__, []).append(time.time() - begin)
        return result

    return wrapper


@timed
@jax.jit
def smooth(signal):
    kernel = jnp.exp(-jnp.linspace(-2.0, 2.0, 65) ** 2)
    return jnp.convolve(signal, kernel / kernel.sum(), mode="same")


signal = jnp.sin(jnp.arange(20000.0) / 50.0)
for _ in range(3):
    signal = smooth(signal)
print(len(timings["smooth"]), round(float(jnp.abs(signal).max()), 2))
