# error: TypeError
# line: 18
# depends: -
# fix: any
# result: {'a': 1.429, 'b': -0.857}

import jax
import jax.numpy as jnp


def loss(p):
    return (p["a"] - 1.0) ** 2 + 2.0 * (p["b"] + 0.5) ** 2 + p["a"] * p["b"]


params = {"a": jnp.array(0.0), "b": jnp.array(0.0)}
gradient = jax.grad(loss)(params)
hessian = jax.hessian(loss)(params)
step = jnp.linalg.solve(hessian, gradient)
print(jax.tree.map(lambda p, s: round(float(p - s), 3), params, step))
