# One correct fixed version of sorted_top_scores.py
import jax
import jax.numpy as jnp


def trimmed_mean(values, drop=1):
    ordered = jnp.sort(jnp.stack(values))
    kept = ordered[drop:len(ordered) - drop]
    return sum(kept) / len(kept)


class DivingEvent:
    """Five judges, best and worst marks dropped, times difficulty."""

    def __init__(self, difficulty):
        self.difficulty = jnp.asarray(difficulty)
        self.total = jax.jit(self._total)

    def _total(self, scores):
        marks = [trimmed_mean(list(row)) for row in scores]
        return jnp.dot(jnp.stack(marks), self.difficulty)


event = DivingEvent([2.5, 3.0, 1.8])
scores = jnp.array([
    [7.0, 7.5, 8.0, 6.5, 7.0],
    [8.0, 8.5, 9.0, 8.0, 5.0],
    [6.0, 6.5, 6.5, 7.0, 9.5],
])
print("total", round(float(event.total(scores)), 3))
