import jax
import jax.numpy as jnp
import numpy as np

links = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (3, 0), (4, 3), (1, 4)]
N = 5


def transition_matrix(links, n):
    A = np.zeros((n, n), dtype=np.float32)
    for src, dst in links:
        A[dst, src] = 1.0
    return jnp.asarray(A / A.sum(axis=0, keepdims=True))


@jax.jit
def pagerank(P, damping=0.85, tol=1e-6, max_iter=200):
    n = P.shape[0]

    def keep_going(state):
        i, rank, previous = state
        return (i < max_iter) & jnp.any(jnp.abs(rank - previous) > tol)

    def iterate(state):
        i, rank, _ = state
        return i + 1, damping * P @ rank + (1 - damping) / n, rank

    start = jnp.full(n, 1.0 / n)
    i, rank, _ = jax.lax.while_loop(keep_going, iterate, (0, start, jnp.zeros(n)))
    return rank, i


rank, iters = pagerank(transition_matrix(links, N))
print(jnp.argsort(-rank).tolist(), [round(r, 2) for r in rank.tolist()])
