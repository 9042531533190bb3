# error: none
# expect: NaNGradientWarning | NaNWarning | FloatingPointError
# jax-differs: jax silently returns nan for rows that are masked as a whole
# line: 23
# also-line: 22
# depends: w
# fix: guard_softmax
# fixed-file: fixed/row_without_neighbors.py
# result: True 0.198
# also-result: True 0.082
# family: silent/nan-masked-softmax

import jax
import jax.numpy as jnp

# node 2 has no neighbors
ADJACENCY = jnp.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]], dtype=bool)
features = jnp.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])


def attend(scores, mask):
    masked = jnp.where(mask, scores, -jnp.inf)
    return jax.nn.softmax(masked, axis=-1)


@jax.jit
def loss(w):
    projected = features @ w
    weights = attend(projected @ projected.T, ADJACENCY)
    return jnp.mean((weights @ projected - features) ** 2)


w = jnp.eye(2)
for _ in range(20):
    w = w - 0.1 * jax.grad(loss)(w)
print(bool(jnp.all(jnp.isfinite(w))), round(float(loss(w)), 3))
