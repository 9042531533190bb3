# One correct fixed version of beams_to_keep.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="beams")
def extend(scores, log_probs, beams):
    """One step of a beam search: scores of prefixes, and of words after each."""
    total = (scores[:, None] + log_probs).reshape(-1)
    best, where = jax.lax.top_k(total, beams)
    return best, where // log_probs.shape[1], where % log_probs.shape[1]


scores = jnp.array([-0.1, -0.7])
log_probs = jnp.log(jnp.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]))
best, prefixes, words = extend(scores, log_probs, 3)
print(prefixes.tolist(), words.tolist(), round(float(best[0]), 4))
