# error: none
# expect: UnusedResultWarning
# jax-differs: jax silently throws the clipped weights away
# line: 17
# depends: -
# fix: assign_result
# fixed-file: fixed/unused_clip_weights.py
# result: [0.3742, 0.1403, 0.1247, 0.3608]

import jax
import jax.numpy as jnp


@jax.jit
def rebalance(weights, signal):
    weights = weights + 0.5 * signal
    jnp.clip(weights, 0.0, 0.4)
    return weights / weights.sum()


weights = jnp.array([0.25, 0.25, 0.25, 0.25])
for signal in (jnp.array([0.5, -1.0, 0.2, 0.1]), jnp.array([0.1, 0.3, -0.4, 0.2])):
    weights = rebalance(weights, signal)
print([round(float(w), 4) for w in weights])
