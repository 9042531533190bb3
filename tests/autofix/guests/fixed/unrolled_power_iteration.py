# One correct fixed version of unrolled_power_iteration.py
import jax
import jax.numpy as jnp


@jax.jit
def pagerank(links, damping):
    n = links.shape[0]
    transition = links / links.sum(axis=1, keepdims=True)
    rank = jnp.full(n, 1.0 / n)
    def step(_, rank):
        return (1.0 - damping) / n + damping * rank @ transition

    return jax.lax.fori_loop(0, 150, step, rank)


links = jnp.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
print([round(float(r), 4) for r in pagerank(links, 0.85)])
