# error: TypeError
# line: 26
# also-line: 25
# depends: -
# fix: any
# result: [0.3450000286102295, 0.17400000989437103, 0.4820000231266022] ; -0.048 1.0

import jax
import jax.numpy as jnp

budget = 1.0
returns = jnp.array([0.08, 0.12, 0.05])
cov = jnp.array([[0.10, 0.02, 0.01], [0.02, 0.20, 0.03], [0.01, 0.03, 0.05]])


def lagrangian(z):
    w, lam = z["weights"], z["lam"]
    utility = returns @ w - 1.5 * w @ cov @ w
    return -utility + lam * (jnp.sum(w) - budget)


@jax.jit
def newton_step(z):
    g = jax.grad(lagrangian)(z)
    K = jax.hessian(lagrangian)(z)
    delta = jnp.linalg.solve(K, g)
    return jax.tree.map(lambda a, d: a - d, z, delta)


z = {"weights": jnp.ones(3) / 3, "lam": jnp.array(0.0)}
for _ in range(2):
    z = newton_step(z)
print(z["weights"].round(3).tolist())
print(round(float(z["lam"]), 3), round(float(z["weights"].sum()), 3))
