import jax
import jax.numpy as jnp


@jax.jit
def histogram(values, edges):
    index = jnp.searchsorted(edges, values, side="right") - 1
    inside = (values >= edges[0]) & (values < edges[-1])
    counts = jnp.zeros(edges.shape[0] - 1, dtype=jnp.int32)
    # what lies outside goes to an index that is dropped on purpose
    index = jnp.where(inside, index, edges.shape[0])
    return counts.at[index].add(1, mode="drop")


values = jnp.array([-1.0, 0.1, 0.5, 1.5, 1.9, 2.5, 7.0])
counts = histogram(values, jnp.array([0.0, 1.0, 2.0, 3.0]))
print(counts.tolist(), int(counts.sum()))
