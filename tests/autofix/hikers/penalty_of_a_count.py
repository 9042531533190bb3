# error: none
# expect: ZeroGradientWarning
# jax-differs: the gradient is zero
# line: 27
# also-line: 21
# depends: -
# fix: any
# result: [-0.3330000042915344, 0.007000000216066837, -0.20000000298023224] [0.10900000482797623, 2.4030001163482666, -0.7010000348091125]

import jax
import jax.numpy as jnp


def prune_loss(w, x, y):
    error = jnp.mean((x @ w - y) ** 2)
    active = jnp.count_nonzero(jnp.abs(w) > 0.05)
    return error + 0.01 * active


def count_slope(w):
    return jnp.sum((jnp.abs(w) > 0.05).astype(jnp.float32))


w = jnp.array([0.5, 0.01, -0.3])
x = jnp.eye(3)
y = jnp.array([1.0, 0.0, 0.0])
print(jax.grad(prune_loss)(w, x, y).round(3).tolist(), jax.grad(count_slope)(w).round(3).tolist())
