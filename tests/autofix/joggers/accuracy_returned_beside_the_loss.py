# error: TypeError
# line: 23
# depends: -
# fix: any
# result: 0.732 0.5 ; 0.54 0.75 ; 0.436 0.75 ; 0.373 0.75

import jax
import jax.numpy as jnp

x = jnp.array([[1.0, 2.0], [-1.0, 0.5], [0.3, -1.5], [-2.0, -1.0]])
labels = jnp.array([1, 0, 0, 0])


def loss_fn(w):
    logits = x @ w
    loss = jnp.mean(jnp.logaddexp(0.0, logits) - labels * logits)
    accuracy = jnp.mean((logits > 0) == (labels == 1))
    return loss, accuracy


@jax.jit
def train_step(w):
    (loss, accuracy), grad = jax.value_and_grad(loss_fn)(w)
    return w - 0.5 * grad, loss, accuracy


w = jnp.array([-0.5, 0.5])
for _ in range(4):
    w, loss, accuracy = train_step(w)
    print(round(float(loss), 3), round(float(accuracy), 2))
