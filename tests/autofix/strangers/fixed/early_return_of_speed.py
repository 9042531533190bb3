# One correct fixed version of early_return_of_speed.py
import jax
import jax.numpy as jnp


def shortfall(margin):
    """What is owed: nothing above the line, the square root below."""
    return jax.lax.cond(margin <= 0.0, lambda m: 0.0 * m, jnp.sqrt, margin)


@jax.jit
def sensitivity(price, strike):
    value, slope = jax.value_and_grad(shortfall)(strike - price)
    return value, -slope


value, slope = sensitivity(5.0, 9.0)
print(round(float(value), 4), round(float(slope), 4))
