# One wrong fix of early_return_of_speed.py: where(margin > 0, sqrt(margin), 0) has a nan gradient at and below zero
import jax
import jax.numpy as jnp


def shortfall(margin):
    """What is owed: nothing above the line, the square root below."""
    return jnp.where(margin <= 0.0, 0.0 * margin, jnp.sqrt(margin))


@jax.jit
def sensitivity(price, strike):
    value, slope = jax.value_and_grad(shortfall)(strike - price)
    return value, -slope


value, slope = sensitivity(5.0, 9.0)
print(round(float(value), 4), round(float(slope), 4))
