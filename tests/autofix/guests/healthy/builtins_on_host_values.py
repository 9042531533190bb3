import jax
import jax.numpy as jnp


@jax.jit
def evaluate(candidate):
    return jnp.sum((candidate - jnp.array([1.0, 2.0])) ** 2)


candidates = [jnp.array([0.0, 0.0]), jnp.array([1.0, 1.0]), jnp.array([3.0, 2.0])]
scores = [evaluate(candidate) for candidate in candidates]
best = min(range(len(scores)), key=lambda i: float(scores[i]))
ranked = sorted(float(score) for score in scores)
if any(score < 2.0 for score in ranked) and 0.0 < ranked[0] < 2.0:
    print(best, ranked, max(ranked), int(jnp.argmax(jnp.stack(scores))))
