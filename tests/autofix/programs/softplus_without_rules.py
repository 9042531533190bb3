# error: AttributeError
# line: 11
# depends: -
# fix: define_rule
# result: [0.5, 0.7311]

import jax
import jax.numpy as jnp


@jax.custom_vjp
def softplus(x):
    return jnp.log1p(jnp.exp(x))


def softplus_forward(x):
    return softplus(x), x


def softplus_backward(x, g):
    return (g * jax.nn.sigmoid(x),)


def loss(x):
    return jnp.sum(softplus(x))


print([round(v, 4) for v in jax.grad(loss)(jnp.array([0.0, 1.0])).tolist()])
