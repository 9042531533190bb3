# error: none
# expect: AsyncTimingWarning | SideEffectWarning
# jax-differs: jax returns before the work is done and the clock is stopped too early
# line: 28
# depends: -
# fix: block_until_ready
# fixed-file: fixed/benchmark_async.py
# result: measured most of the work: True

"""How long does a chain of matrix products take?"""
import time

import jax
import jax.numpy as jnp


@jax.jit
def chain(a, b):
    def body(_, m):
        return jnp.tanh(m @ b)

    return jax.lax.fori_loop(0, 60, body, a)


def measure(fn, *args):
    start = time.perf_counter()
    out = fn(*args)
    dispatch = time.perf_counter() - start
    out.block_until_ready()
    total = time.perf_counter() - start
    return dispatch, total


n = 700
a = jnp.ones((n, n)) / n
b = jnp.eye(n) * 0.9
chain(a, b).block_until_ready()
measured, real = measure(chain, a, b)
print("measured most of the work:", measured > 0.5 * real)
