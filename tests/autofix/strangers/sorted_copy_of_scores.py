# error: none
# expect: UnusedResultWarning
# jax-differs: jax's sort returns a copy where numpy's sorts in place
# line: 17
# depends: -
# fix: assign_result
# fixed-file: fixed/sorted_copy_of_scores.py
# result: 7.5 7.5
# family: 2/result-thrown-away

import jax
import jax.numpy as jnp


@jax.jit
def trimmed_mean(scores):
    scores.sort()
    cut = scores.shape[0] // 5
    return scores[cut : scores.shape[0] - cut].mean()


@jax.jit
def spread(scores):
    return scores.max() - scores.min()


judges = jnp.array([9.5, 7.0, 7.5, 2.0, 8.0])
print(round(float(trimmed_mean(judges)), 4), float(spread(judges)))
