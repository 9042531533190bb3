import jax
import jax.numpy as jnp


def parabola(x):
    return 0.5 * x**2 - 3 * x + 1


def tangent(x):
    height, steepness = jax.value_and_grad(parabola)(x)
    return height - steepness * x, steepness


places = jnp.arange(4.0)
crossings, steepness = jax.vmap(tangent)(places)
print(crossings.tolist(), steepness.tolist())
