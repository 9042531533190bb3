# error: AttributeError
# line: 23
# depends: -
# fix: any
# result: [[0.87, 0.98], [0.8, 0.9], [1.06, 0.8], [0.77, 0.75]]

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Graph(NamedTuple):
    nodes: jax.Array
    senders: jax.Array
    receivers: jax.Array


def sage_layer(params, graph):
    """GraphSAGE with mean aggregation."""
    n = graph.nodes.shape[0]
    messages = graph.nodes[graph.senders]
    pooled = jax.ops.segment_mean(messages, graph.receivers, num_segments=n)
    h = graph.nodes @ params["self"] + pooled @ params["neigh"]
    return graph._replace(nodes=jax.nn.relu(h))


@jax.jit
def embed(layers, graph):
    for params in layers:
        graph = sage_layer(params, graph)
    return graph.nodes


edges = jnp.array([[0, 1], [1, 0], [1, 2], [2, 1], [2, 3], [3, 2], [0, 2], [2, 0]])
features = jnp.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, -0.5]])
layers = [
    {"self": jnp.array([[0.5, 0.1], [0.2, 0.3]]), "neigh": jnp.array([[0.3, 0.0], [-0.1, 0.6]])},
    {"self": jnp.eye(2), "neigh": 0.5 * jnp.eye(2)},
]
out = embed(layers, Graph(features, edges[:, 0], edges[:, 1]))
print([[round(v, 2) for v in row] for row in out.tolist()])
