# error: none
# expect: AsyncTimingWarning
# jax-differs: jax returns before the result is computed
# line: 26
# also-line: 25
# depends: -
# fix: block_until_ready
# fixed-file: fixed/timer_decorator.py
# result: 3 0.93
# family: 2/timing-without-waiting

import functools
import time

import jax
import jax.numpy as jnp

timings = {}


def timed(function):
    @functools.wraps(function)
    def wrapper(*args):
        begin = time.time()
        result = function(*args)
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
