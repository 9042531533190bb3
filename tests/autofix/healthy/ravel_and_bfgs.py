import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jax.scipy.optimize import minimize

params = {"z": jnp.array([1.0, -1.0]), "a": jnp.array([[0.5]])}
vector, unravel = ravel_pytree(params)


def loss(vector):
    p = unravel(vector)
    return jnp.sum((p["z"] - 2.0) ** 2) + jnp.sum((p["a"] + 1.0) ** 2)


result = minimize(loss, vector, method="BFGS")
best = unravel(result.x)
print(bool(result.success), [round(float(v), 3) for v in best["z"]], best["a"].shape)
print(sorted(best))
