# One correct fixed version of row_without_neighbors.py
import jax
import jax.numpy as jnp

# node 2 has no neighbors
ADJACENCY = jnp.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]], dtype=bool)
features = jnp.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])


def attend(scores, mask):
    return jax.nn.softmax(scores, axis=-1, where=mask)


@jax.jit
def loss(w):
    projected = features @ w
    weights = attend(projected @ projected.T, ADJACENCY)
    return jnp.mean((weights @ projected - features) ** 2)


w = jnp.eye(2)
for _ in range(20):
    w = w - 0.1 * jax.grad(loss)(w)
print(bool(jnp.all(jnp.isfinite(w))), round(float(loss(w)), 3))
