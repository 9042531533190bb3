# error: TypeError
# line: 13
# depends: counts
# fix: at_set
# result: [0.0, 9.0, 3.0, 1.0]

import jax
import jax.numpy as jnp


@jax.jit
def tally(counts, where):
    counts[where] += 2.0
    counts[0] -= 1.0
    counts[1:3] *= 3.0
    return counts


print([float(v) for v in tally(jnp.ones(4), 1)])
