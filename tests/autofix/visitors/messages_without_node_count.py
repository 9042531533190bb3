# error: ConcretizationTypeError
# line: 17
# depends: receivers
# fix: static_argument
# fixed-file: fixed/messages_without_node_count.py
# result: [[4.0, 0.0], [1.0, 0.0], [0.5, 0.5], [2.0, 2.0]]
# family: concretization/segment-sum

import jax
import jax.numpy as jnp


@jax.jit
def propagate(features, senders, receivers):
    """Each node gets the mean of its neighbors' features."""
    messages = features[senders]
    total = jax.ops.segment_sum(messages, receivers)
    degree = jax.ops.segment_sum(jnp.ones(len(receivers)), receivers)
    return total / jnp.maximum(degree, 1.0)[:, None]


features = jnp.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [4.0, 0.0]])
senders = jnp.array([0, 1, 2, 3, 0])
receivers = jnp.array([1, 2, 3, 0, 2])
print(propagate(features, senders, receivers).tolist())
