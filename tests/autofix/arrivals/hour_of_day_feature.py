# error: none
# expect: ImpureTraceWarning
# jax-differs: jax reads it once
# line: 21
# depends: -
# fix: pass_argument
# result: 3

import itertools
import time

import jax
import jax.numpy as jnp

ticks = itertools.count()
time.time = lambda: float(next(ticks))


@jax.jit
def decayed(value, since):
    return value * jnp.exp(-(time.time() - since))


values = [round(float(decayed(1.0, 0.0)), 4) for _ in range(3)]
print(len(set(values)))
