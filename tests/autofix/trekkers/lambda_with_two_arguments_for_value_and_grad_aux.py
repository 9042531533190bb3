# error: TypeError
# line: 21
# depends: -
# fix: any
# result: 1.099 0.5

import jax
import jax.numpy as jnp


def loss(w, x, y):
    logits = x @ w
    nll = -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(y.shape[0]), y])
    accuracy = jnp.mean(jnp.argmax(logits, 1) == y)
    return nll, accuracy


w = jnp.zeros((2, 3))
x = jnp.array([[1.0, 0.0], [0.0, 1.0]])
y = jnp.array([0, 2])
(value, accuracy), grads = jax.value_and_grad(loss)(w, x, y)
print(round(float(value), 3), round(float(accuracy), 2))
