# error: none
# expect: none
# result: [0.0, 0.0, 0.0] [0.6000000238418579, 0.800000011920929]

import jax
import jax.numpy as jnp


@jax.custom_vjp
def safe_norm(x):
    return jnp.sqrt(jnp.sum(x * x))


def fwd(x):
    n = safe_norm(x)
    return n, (x, n)


def bwd(res, ct):
    x, n = res
    return (jnp.where(n > 0, ct / jnp.where(n > 0, n, 1.0), 0.0) * x,)


safe_norm.defvjp(fwd, bwd)
print(jax.grad(safe_norm)(jnp.zeros(3)).tolist(), jax.grad(safe_norm)(jnp.array([3.0, 4.0])).tolist())
