"""Sizes that do not fit, of values in a pytree."""
import sagax
import sagax.numpy as jnp


@sagax.jit
def forward(params, x):
    hidden = x @ params["w"]
    return hidden + params["b"]  #~ SX0002 the operands differ in size


forward({"w": jnp.ones((3, 4)), "b": jnp.zeros(3)}, jnp.ones((2, 3)))
