# error: none
# expect: none
# result: [2.0, 1.0, 3.0, 0.0] ; [4.0, 1.0, 3.0, 3.0]

"""Message passing where padded edges point past the last node."""
import jax
import jax.numpy as jnp
import numpy as np

NODES = 4


def pad_edges(edges, size):
    out = np.full((size, 2), NODES, dtype=np.int32)
    out[:len(edges)] = edges
    return jnp.asarray(out)


@jax.jit
def aggregate(x, edges):
    src, dst = edges[:, 0], edges[:, 1]
    messages = x.at[src].get(mode="fill", fill_value=0.0)
    return jnp.zeros(NODES).at[dst].add(messages, mode="drop")


x = jnp.array([1.0, 2.0, 3.0, 4.0])
small = pad_edges([(1, 0), (0, 1), (2, 2)], 8)
large = pad_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], 8)
print([float(v) for v in aggregate(x, small)])
print([float(v) for v in aggregate(x, large)])
