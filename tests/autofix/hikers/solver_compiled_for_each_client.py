# error: none
# expect: RecompilationWarning
# jax-differs: compiles for each client
# line: 18
# also-line: 20
# depends: -
# fix: any
# result: [0.6020999550819397, 1.2042999267578125]

import jax
import jax.numpy as jnp


def local_train(weights, x, y, rate):
    def loss(w):
        return jnp.mean((x @ w - y) ** 2)

    step = jax.jit(lambda w: w - rate * jax.grad(loss)(w))
    for _ in range(3):
        weights = step(weights)
    return weights


clients = [(jnp.eye(2) * s, jnp.array([1.0, 2.0]) * s) for s in (0.5, 1.0, 1.5, 2.0, 0.8, 1.2)]
weights = jnp.zeros(2)
for _ in range(2):
    updates = [local_train(weights, x, y, 0.1) for x, y in clients]
    weights = jnp.mean(jnp.stack(updates), axis=0)
print(weights.round(4).tolist())
