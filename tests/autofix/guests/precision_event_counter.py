# error: none
# expect: PrecisionLossWarning
# jax-differs: jax silently keeps 2**24: one more does not change a float32
# line: 18
# also-line: 20, 24
# depends: -
# fix: wider_dtype
# fixed-file: fixed/precision_event_counter.py
# result: 16777230

import jax
import jax.numpy as jnp


@jax.jit
def count_events(count, hits):
    def add(count, hit):
        return count + jnp.where(hit, 1.0, 0.0), None

    count, _ = jax.lax.scan(add, count, hits)
    return count


count = jnp.array(16_777_210.0)
hits = jnp.ones(20, dtype=bool)
print(int(count_events(count, hits)))
