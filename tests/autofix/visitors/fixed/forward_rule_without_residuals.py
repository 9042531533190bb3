# One correct fixed version of forward_rule_without_residuals.py
import jax
import jax.numpy as jnp


@jax.custom_vjp
def soft_threshold(x, amount):
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - amount, 0.0)


def soft_threshold_fwd(x, amount):
    return soft_threshold(x, amount), (x, amount)


def soft_threshold_bwd(residuals, g):
    x, amount = residuals
    passed = jnp.where(jnp.abs(x) > amount, g, 0.1 * g)
    return passed, -jnp.sum(jnp.sign(x) * passed)


soft_threshold.defvjp(soft_threshold_fwd, soft_threshold_bwd)


def sparse_loss(x):
    return jnp.sum(soft_threshold(x, 0.5) ** 2)


print([round(float(g), 3) for g in jax.grad(sparse_loss)(jnp.array([-2.0, 0.2, 1.0]))])
