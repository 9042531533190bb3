# error: ValueError
# line: 26
# also-line: 23
# depends: -
# fix: any
# result: [[0.09400000423192978, 0.3750000298023224, 0.906000018119812, 0.3750000298023224], [0.3750000298023224, 0.906000018119812, 1.7500001192092896, 0.906000018119812], [0.09400000423192978, 0.3750000298023224, 0.906000018119812, 0.3750000298023224], [0.0, 0.09400000423192978, 0.3750000298023224, 0.09400000423192978]]

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames=("offsets",))
def smooth(field, offsets, weight=0.5):
    total = jnp.zeros_like(field)
    for dy, dx in offsets:
        total = total + jnp.roll(field, (dy, dx), axis=(0, 1))
    return (1.0 - weight) * field + weight * total / len(offsets)


cross = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
field = jnp.zeros((4, 4)).at[1, 2].set(8.0)
for _ in range(3):
    field = smooth(field, cross)
print(field.round(3).tolist())
