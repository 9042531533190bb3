# error: none
# expect: IntegerOverflowWarning
# line: 25
# depends: -
# fix: any
# result: 63092 ; 81

import jax
import jax.numpy as jnp

base_scores = jnp.array([52000, 61000, 48500, 70250, 66400, 57900])


def play(level, score):
    bonus = 1500 * level
    return level + 1, score + bonus


@jax.jit
def score_statistics(base_scores):
    _, scores = jax.lax.scan(play, 0, base_scores)

    def accumulate(sums, score):
        total, total_squares = sums
        return (total + score, total_squares + score * score), None

    (total, total_squares), _ = jax.lax.scan(accumulate, (0, 0), scores)
    n = scores.shape[0]
    mean = total / n
    return mean, total_squares / n - mean**2


mean, variance = score_statistics(base_scores)
print(round(float(mean)))
print(round(float(variance) / 1e6))
