# error: none
# expect: UnrolledLoopWarning
# jax-differs: jax silently compiles 150 copies of the body
# line: 20
# depends: -
# fix: fori_or_scan
# fixed-file: fixed/unrolled_power_iteration.py
# result: [0.2199, 0.131, 0.4292, 0.2199]

import jax
import jax.numpy as jnp


@jax.jit
def pagerank(links, damping):
    n = links.shape[0]
    transition = links / links.sum(axis=1, keepdims=True)
    rank = jnp.full(n, 1.0 / n)
    k = 0
    while k < 150:
        rank = (1.0 - damping) / n + damping * rank @ transition
        k += 1
    return rank


links = jnp.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
print([round(float(r), 4) for r in pagerank(links, 0.85)])
