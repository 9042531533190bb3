"""NaN in a gradient, although a where chooses the other side."""
import sagax
import sagax.numpy as jnp


def distance(points):
    squares = (points**2).sum(axis=1)
    root = jnp.sqrt(squares)  #~ SX0112 invalid value (nan) encountered in mul
    return jnp.where(squares > 0, root, 0.0).sum()


with sagax.debug_nans(True):
    sagax.jit(sagax.grad(distance))(jnp.array([[0.0, 0.0], [3.0, 4.0]]))
