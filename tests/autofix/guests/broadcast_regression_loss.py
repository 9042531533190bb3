# error: none
# expect: BroadcastWarning
# jax-differs: jax silently compares each prediction with all targets
# line: 21
# depends: -
# fix: match_shape
# fixed-file: fixed/broadcast_regression_loss.py
# result: 0.0031

import jax
import jax.numpy as jnp


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"])
    return hidden @ params["w2"]


@jax.jit
def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


params = {"w1": jnp.array([[0.5, -0.3]]), "w2": jnp.array([[1.0], [0.4]])}
x = jnp.array([[0.0], [1.0], [2.0], [3.0]])
y = jnp.array([0.0, 0.4, 0.6, 0.7])
print(round(float(loss_fn(params, x, y)), 4))
