# error: TypeError
# expect: TypeError | ValueError
# line: 29
# also-line: 22
# depends: -
# fix: reduce_predicate
# fixed-file: fixed/power_iteration_cond.py
# result: eig 1.0 ; [0.272, 0.228, 0.325, 0.175]

import jax
import jax.numpy as jnp
from jax import lax


def normalise(v):
    return v / jnp.linalg.norm(v)


def dominant(A, v0, tol=1e-5, limit=500):
    def unfinished(carry):
        v, previous, k = carry
        return (jnp.abs(v - previous) > tol) & (k < limit)

    def body(carry):
        v, _, k = carry
        return normalise(A @ v), v, k + 1

    start = (normalise(A @ v0), v0, 0)
    v, _, k = lax.while_loop(unfinished, body, start)
    return v @ A @ v, v, k


def pagerank_matrix(links, damping=0.85):
    n = links.shape[0]
    columns = links / links.sum(axis=0, keepdims=True)
    return damping * columns + (1 - damping) / n


links = jnp.array([[0., 1., 1., 0.], [1., 0., 0., 1.], [1., 1., 0., 1.], [0., 0., 1., 0.]])
value, vec, k = jax.jit(dominant)(pagerank_matrix(links), jnp.ones(4) / 2)
rank = vec / vec.sum()
print("eig", round(float(value), 4))
print([round(float(r), 3) for r in rank])
