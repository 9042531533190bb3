# error: ConcretizationTypeError
# line: 22
# depends: -
# fix: any
# result: [0, 0, 0, 3, 3, 5, 5, 5, 8, 9] ; 5 ; [0, 0, 0, 3, 4, 5, 5, 5, 0, 9] ; 5

import jax
import jax.numpy as jnp

edges = jnp.array([[0, 1], [1, 2], [3, 4], [5, 6], [6, 7], [7, 5]])
n_nodes = 10


@jax.jit
def components(edges):
    def propagate(_, labels):
        low = jnp.minimum(labels[edges[:, 0]], labels[edges[:, 1]])
        labels = labels.at[edges[:, 0]].min(low)
        return labels.at[edges[:, 1]].min(low)

    labels = jax.lax.fori_loop(0, n_nodes, propagate, jnp.arange(n_nodes))
    n_components = jnp.unique(labels).size
    return labels, n_components


labels, n_components = components(edges)
print(labels.tolist())
print(int(n_components))
labels, n_components = components(edges.at[2].set(jnp.array([2, 8])))
print(labels.tolist())
print(int(n_components))
