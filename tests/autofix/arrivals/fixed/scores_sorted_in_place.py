# One correct fixed version of scores_sorted_in_place.py
import jax.numpy as jnp

scores = jnp.array([3.0, 1.0, 2.0])
scores = scores.sort()
best = scores[-2:]
print(best.tolist())
