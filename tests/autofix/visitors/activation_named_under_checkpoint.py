# error: TypeError
# line: 25
# also-line: 18
# depends: -
# fix: static_argument
# fixed-file: fixed/activation_named_under_checkpoint.py
# result: 3.6526
# family: types/string-under-checkpoint

import functools

import jax
import jax.numpy as jnp

ACTIVATIONS = {"tanh": jnp.tanh, "relu": jax.nn.relu}


@jax.checkpoint
def block(w, x, activation):
    return x + ACTIVATIONS[activation](w @ x)


def loss(weights, x):
    for k, w in enumerate(weights):
        x = block(w, x, "tanh" if k == 0 else "relu")
    return jnp.sum(x**2)


slope = functools.partial(jax.grad(loss), x=jnp.array([1.0, -0.5]))
weights = jnp.array([[[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.0], [0.0, 0.5]]])
print(round(float(jnp.sum(slope(weights))), 4))
