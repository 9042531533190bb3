# error: TypeError
# line: 17
# also-line: 22
# depends: -
# fix: any
# result: [0.0, 2.0] [0.9970000386238098, 1.6100001335144043]

import jax
import jax.numpy as jnp


def soft(scores):
    return jax.nn.softmax(scores)


def hard(scores):
    return jnp.argmax(scores)


@jax.jit
def mix(scores, experts, sharp):
    weights = jax.lax.cond(sharp, hard, soft, scores)
    return weights @ experts


experts = jnp.array([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
scores = jnp.array([0.1, 0.5, -0.2])
print(mix(scores, experts, True).tolist(), mix(scores, experts, False).round(3).tolist())
