# error: none
# expect: IntegerOverflowWarning
# line: 16
# depends: -
# fix: any
# result: 4 9.000e+00 ; 8 1.483e+04 ; 12 1.762e+08 ; 16 7.697e+12 ; 18 2.355e+15

import jax
import jax.numpy as jnp


@jax.jit
def derangements():
    def recurrence(pair, n):
        older, newer = pair
        following = (n - 1) * (older + newer)
        return (newer, following), following

    start = (jnp.array(1), jnp.array(0))
    _, counts = jax.lax.scan(recurrence, start, jnp.arange(2, 19))
    return counts


counts = derangements()
for n in (4, 8, 12, 16, 18):
    print(n, f"{float(counts[n - 2]):.3e}")
