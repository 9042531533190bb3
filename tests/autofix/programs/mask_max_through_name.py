# error: NonConcreteBooleanIndexError
# line: 14
# depends: scores, threshold
# fix: where_mask_sum
# result: 3.3333 3

import jax
import jax.numpy as jnp


@jax.jit
def best(scores, threshold):
    good = scores < threshold
    kept = scores[good]
    return kept.max() - kept.mean(), kept.shape[0]


top, n = best(jnp.array([1.0, 9.0, 4.0, 7.5]), 8.0)
print(round(float(top), 4), int(n))
