# error: none
# expect: OutOfBoundsIndexWarning | IndexError
# jax-differs: jax silently drops the messages of the last node
# line: 18
# also-line: 19
# depends: receivers
# fix: segment_count
# fixed-file: fixed/graph_nodes_beyond_segments.py
# result: 6.2
# family: 2/index-out-of-bounds

import jax
import jax.numpy as jnp


@jax.jit
def pool(features, receivers):
    degree = jax.ops.segment_sum(jnp.ones(receivers.shape), receivers, num_segments=3)
    total = jax.ops.segment_sum(features, receivers, num_segments=3)
    return total.sum() / jnp.maximum(degree, 1.0).sum()


# four nodes, the messages of five edges
receivers = jnp.array([0, 1, 3, 3, 2])
features = jnp.array([1.0, 2.0, 4.0, 8.0, 16.0])
print(round(float(pool(features, receivers)), 4))
