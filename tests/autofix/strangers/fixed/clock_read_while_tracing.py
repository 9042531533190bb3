# One correct fixed version of clock_read_while_tracing.py
import time

import jax
import jax.numpy as jnp

BEGIN = time.monotonic()


@jax.jit
def stamp(reading, age):
    return jnp.array([age, reading])


rows = []
for reading in (0.1, 0.4, 0.2):
    rows.append(stamp(reading, time.monotonic() - BEGIN))
    time.sleep(0.02)
log = jnp.stack(rows)
print("increasing:", bool(jnp.all(jnp.diff(log[:, 0]) > 0)))
