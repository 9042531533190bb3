from typing import NamedTuple

import jax
import jax.numpy as jnp


class Graph(NamedTuple):
    x: jax.Array
    senders: jax.Array
    receivers: jax.Array
    edge_mask: jax.Array


def pad(x, edges, max_edges):
    missing = max_edges - len(edges)
    edges = jnp.array(edges + [(0, 0)] * missing)
    mask = jnp.arange(max_edges) < max_edges - missing
    return Graph(x, edges[:, 0], edges[:, 1], mask)


@jax.jit
def degree_normalized(g):
    n = g.x.shape[0]
    m = g.x[g.senders] * g.edge_mask[:, None]
    total = jax.ops.segment_sum(m, g.receivers, n)
    degree = jax.ops.segment_sum(g.edge_mask.astype(jnp.float32), g.receivers, n)
    return total / jnp.maximum(degree, 1.0)[:, None]


x = jnp.arange(6.0).reshape(3, 2)
for edges in ([(0, 1), (2, 1)], [(0, 2), (1, 2), (1, 0), (2, 0)]):
    print(degree_normalized(pad(x, edges, 4)).tolist())
