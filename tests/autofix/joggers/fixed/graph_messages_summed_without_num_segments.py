import jax
import jax.numpy as jnp

N_NODES = 4
senders = jnp.array([0, 1, 2, 2, 3, 0])
receivers = jnp.array([1, 2, 0, 3, 1, 3])


@jax.jit
def message_passing(nodes, senders, receivers):
    messages = jnp.tanh(nodes[senders])
    summed = jax.ops.segment_sum(messages, receivers, num_segments=N_NODES)
    return nodes + 0.5 * summed


nodes = jnp.array([[1.0, 0.0], [0.5, -0.5], [0.0, 2.0], [-1.0, 1.0]])
for _ in range(2):
    nodes = message_passing(nodes, senders, receivers)
assert nodes.shape == (N_NODES, 2)
print(nodes.round(3).tolist())
