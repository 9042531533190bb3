# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently gives no gradient at all
# line: 21
# also-line: 29
# depends: -
# fix: stop_gradient
# result: [0.9, 1.0, 0.0]

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient


def value(w, s):
    return jnp.dot(w, s)


@jax.jit
def td_loss(w, s, r, s_next, gamma=0.9):
    delta = stop_gradient(r + gamma * value(w, s_next) - value(w, s))
    return 0.5 * delta**2


features = jnp.eye(3)
w = jnp.zeros(3)
for episode in range(200):
    for i, r in ((0, 0.0), (1, 1.0)):
        w = w - 0.2 * jax.grad(td_loss)(w, features[i], r, features[i + 1])
print([round(v, 2) for v in w.tolist()])
