# One correct fixed version of benchmark_async.py
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
    out = fn(*args).block_until_ready()
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
