# error: none
# expect: StaleValueWarning
# jax-differs: jax silently keeps the mask of the first call
# line: 19
# also-line: 23, 32
# depends: -
# fix: pass_argument
# result: [20.0, 20.2, 21.2]

import jax
import jax.numpy as jnp
import numpy as np

healthy = np.ones(6)


@jax.jit
def fuse(readings):
    return jnp.sum(readings * healthy) / jnp.sum(healthy)


def check(readings, limit=50.0):
    healthy[np.abs(readings) > limit] = 0.0


stream = np.array(
    [[20.0, 21, 19, 20, 22, 18], [20.0, 21, 900, 20, 22, 18], [21.0, 22, 20, 21, 23, 19]]
)
fused = []
for readings in stream:
    check(readings)
    fused.append(float(fuse(readings)))
print([round(f, 2) for f in fused])
