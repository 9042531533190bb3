# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently adds one and the same jitter in each call
# line: 18
# depends: -
# fix: pass_key
# fixed-file: fixed/impure_python_random_jitter.py
# result: True True

import random

import jax
import jax.numpy as jnp


def jittered_samples(start, stop, count):
    cells = jnp.linspace(start, stop, count, endpoint=False)
    return cells + random.random() * (stop - start) / count


@jax.jit
def estimate(power):
    x = jittered_samples(0.0, 1.0, 16)
    return jnp.mean(x**power)


estimates = [float(estimate(2.0)) for _ in range(5)]
print(len(set(estimates)) > 1, abs(sum(estimates) / 5 - 1.0 / 3.0) < 0.1)
