# error: none
# expect: UnusedResultWarning
# jax-differs: jax sorts a copy
# line: 12
# depends: -
# fix: assign_result
# result: [2.0, 3.0]

import jax.numpy as jnp

scores = jnp.array([3.0, 1.0, 2.0])
scores.sort()
best = scores[-2:]
print(best.tolist())
