# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently keeps the number that was drawn while tracing
# line: 22
# depends: -
# fix: jax_random
# fixed-file: fixed/python_random_while_tracing.py
# result: different draws: 4
# family: 2/impure-while-tracing

import random

import jax
import jax.numpy as jnp

random.seed(5)


@jax.jit
def explore(values):
    """Adds a little noise so that ties are broken at random."""
    noise = random.uniform(0.0, 1e-2)
    return values + noise * jnp.arange(values.shape[0])


values = jnp.array([0.5, 0.5, 0.5])
draws = [float(explore(values)[2]) for _ in range(4)]
print("different draws:", len(set(draws)))
