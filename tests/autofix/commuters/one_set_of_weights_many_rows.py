# error: ValueError
# line: 22
# depends: -
# fix: any
# result: [0.2110999971628189, -0.07779999822378159, -0.4777999818325043, -0.8777999877929688, -1.2777999639511108]

import jax
import jax.numpy as jnp


def predict(weights, row):
    hidden = jax.nn.relu(row @ weights["in"] + weights["shift"])
    return hidden @ weights["out"]


weights = {
    "in": jnp.arange(6.0).reshape(3, 2) / 6,
    "shift": jnp.array([0.1, -0.2]),
    "out": jnp.array([1.0, -2.0]),
}
rows = jnp.arange(15.0).reshape(5, 3) / 15
scores = jax.vmap(predict)(weights, rows)
print(scores.round(4).tolist())
