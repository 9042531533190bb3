# One wrong fix of sorted_copy_of_scores.py: argsort gives places, and not scores
import jax
import jax.numpy as jnp


@jax.jit
def trimmed_mean(scores):
    scores = jnp.argsort(scores).astype(float)
    cut = scores.shape[0] // 5
    return scores[cut : scores.shape[0] - cut].mean()


@jax.jit
def spread(scores):
    return scores.max() - scores.min()


judges = jnp.array([9.5, 7.0, 7.5, 2.0, 8.0])
print(round(float(trimmed_mean(judges)), 4), float(spread(judges)))
