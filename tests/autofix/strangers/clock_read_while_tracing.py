# error: none
# expect: ImpureTraceWarning
# jax-differs: jax silently keeps the time of the first call
# line: 21
# depends: -
# fix: pass_argument
# fixed-file: fixed/clock_read_while_tracing.py
# result: increasing: True
# family: 2/impure-while-tracing

import time

import jax
import jax.numpy as jnp

BEGIN = time.monotonic()


@jax.jit
def stamp(reading):
    age = time.monotonic() - BEGIN
    return jnp.array([age, reading])


rows = []
for reading in (0.1, 0.4, 0.2):
    rows.append(stamp(reading))
    time.sleep(0.02)
log = jnp.stack(rows)
print("increasing:", bool(jnp.all(jnp.diff(log[:, 0]) > 0)))
