import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

budget = 1.0
returns = jnp.array([0.08, 0.12, 0.05])
cov = jnp.array([[0.10, 0.02, 0.01], [0.02, 0.20, 0.03], [0.01, 0.03, 0.05]])


def lagrangian(z):
    w, lam = z["weights"], z["lam"]
    utility = returns @ w - 1.5 * w @ cov @ w
    return -utility + lam * (jnp.sum(w) - budget)


@jax.jit
def newton_step(z):
    flat, unravel = ravel_pytree(z)
    g = jax.grad(lambda f: lagrangian(unravel(f)))(flat)
    K = jax.hessian(lambda f: lagrangian(unravel(f)))(flat)
    delta = jnp.linalg.solve(K, g)
    return unravel(flat - delta)


z = {"weights": jnp.ones(3) / 3, "lam": jnp.array(0.0)}
for _ in range(2):
    z = newton_step(z)
print(z["weights"].round(3).tolist())
print(round(float(z["lam"]), 3), round(float(z["weights"].sum()), 3))
