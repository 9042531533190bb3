# One correct fixed version of loss_is_not_returned.py
import jax
import jax.numpy as jnp


def objective(w, x):
    residual = x @ w - 1.0
    return jnp.mean(residual**2)


g = jax.grad(objective)(jnp.zeros(2), jnp.eye(2))
print(g.tolist())
