# error: TypeError
# line: 22
# also-line: 33
# depends: -
# fix: any
# result: [0.03200000151991844, -1.0, 1.0]

import jax
import jax.numpy as jnp


@jax.custom_vjp
def clip_gradient(x):
    return x


def forward(x):
    return x, None


def backward(_, g):
    return jnp.clip(g, -1.0, 1.0)


clip_gradient.defvjp(forward, backward)


def loss(w):
    return jnp.sum(clip_gradient(w) ** 4)


w = jnp.array([0.2, -1.5, 0.7])
gradient = jax.grad(loss)(w)
print(gradient.round(3).tolist())
