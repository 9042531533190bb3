import jax
import jax.numpy as jnp

SENDERS = jnp.array([0, 1, 2, 2, 3])
RECEIVERS = jnp.array([1, 2, 0, 3, 3])


@jax.jit
def propagate(w, nodes):
    n = nodes.shape[0]
    messages = jnp.tanh(nodes[SENDERS] @ w)
    total = jax.ops.segment_sum(messages, RECEIVERS, num_segments=n)
    degree = jax.ops.segment_sum(jnp.ones(RECEIVERS.shape), RECEIVERS, num_segments=n)
    return nodes + total / jnp.maximum(degree, 1.0)[:, None]


nodes = jnp.eye(4, 3)
w = jnp.full((3, 3), 0.2)
for _ in range(3):
    nodes = propagate(w, nodes)
grad = jax.grad(lambda w: propagate(w, nodes).sum())(w)
print(nodes.shape, bool(jnp.all(jnp.isfinite(grad))))
