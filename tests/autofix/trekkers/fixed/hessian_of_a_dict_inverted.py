import jax
import jax.numpy as jnp


def loss(p):
    return (p["a"] - 1.0) ** 2 + 2.0 * (p["b"] + 0.5) ** 2 + p["a"] * p["b"]


params = {"a": jnp.array(0.0), "b": jnp.array(0.0)}
from jax.flatten_util import ravel_pytree

flat, unravel = ravel_pytree(params)
gradient = jax.grad(lambda v: loss(unravel(v)))(flat)
hessian = jax.hessian(lambda v: loss(unravel(v)))(flat)
step = unravel(jnp.linalg.solve(hessian, gradient))
print(jax.tree.map(lambda p, s: round(float(p - s), 3), params, step))
