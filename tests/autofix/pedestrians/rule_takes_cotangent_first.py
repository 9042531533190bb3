# error: ValueError
# expect: TypeError | ValueError | AttributeError
# line: 23
# also-line: 22, 27, 34
# depends: -
# fix: custom_rule
# result: [0.20000000298023224, -0.5, 0.5]

import jax
import jax.numpy as jnp


@jax.custom_vjp
def clipped_identity(x, limit):
    return x


def forward(x, limit):
    return x, (limit,)


def backward(cotangent, residuals):
    (limit,) = residuals
    return jnp.clip(cotangent, -limit, limit), None


clipped_identity.defvjp(forward, backward)


def energy(x):
    return jnp.sum(clipped_identity(x, 0.5) ** 2)


print(jax.grad(energy)(jnp.array([0.1, -2.0, 3.0])).tolist())
