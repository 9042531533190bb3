# error: NotImplementedError
# expect: NotImplementedError | TypeError
# line: 17
# depends: -
# fix: return_value
# fixed-file: fixed/numpy_out_argument.py
# result: [-0.2, -0.45]

import jax
import jax.numpy as jnp


def accumulate_gradients(batches, weights):
    total = jnp.zeros_like(weights)
    for x, y in batches:
        grad = 2.0 * x.T @ (x @ weights - y) / x.shape[0]
        jnp.sum(jnp.stack([total, grad]), axis=0, out=total)
    return total / len(batches)


x = jnp.array([[1.0, 2.0], [0.0, 1.0]])
batches = [(x, jnp.array([1.0, 0.0])), (x + 1.0, jnp.array([0.5, 1.0]))]
grads = accumulate_gradients(batches, jnp.array([0.1, 0.2]))
print([round(float(g), 4) for g in grads])
