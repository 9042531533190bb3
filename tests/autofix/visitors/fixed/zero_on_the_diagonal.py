# One correct fixed version of zero_on_the_diagonal.py
import jax
import jax.numpy as jnp


@jax.jit
def modularity(adjacency, groups):
    """How well groups split a network."""
    adjacency = jnp.fill_diagonal(adjacency, 0.0, inplace=False)
    degree = adjacency.sum(axis=1)
    same = groups[:, None] == groups[None, :]
    expected = jnp.outer(degree, degree) / degree.sum()
    return jnp.sum(jnp.where(same, adjacency - expected, 0.0)) / degree.sum()


adjacency = jnp.array(
    [[1.0, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
)
print(round(float(modularity(adjacency, jnp.array([0, 0, 0, 1, 1]))), 4))
