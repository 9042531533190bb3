# error: ConcretizationTypeError
# line: 18
# depends: -
# fix: any
# result: [[1.1140000820159912, 0.9540000557899475], [0.6060000061988831, 0.5560000538825989], [0.4620000123977661, 1.7100000381469727], [-0.125, 2.1780002117156982]]

import jax
import jax.numpy as jnp

N_NODES = 4
senders = jnp.array([0, 1, 2, 2, 3, 0])
receivers = jnp.array([1, 2, 0, 3, 1, 3])


@jax.jit
def message_passing(nodes, senders, receivers):
    messages = jnp.tanh(nodes[senders])
    summed = jax.ops.segment_sum(messages, receivers)
    return nodes + 0.5 * summed


nodes = jnp.array([[1.0, 0.0], [0.5, -0.5], [0.0, 2.0], [-1.0, 1.0]])
for _ in range(2):
    nodes = message_passing(nodes, senders, receivers)
assert nodes.shape == (N_NODES, 2)
print(nodes.round(3).tolist())
