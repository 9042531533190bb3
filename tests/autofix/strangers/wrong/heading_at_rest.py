# One wrong fix of heading_at_rest.py: the heading at rest becomes 45 degrees, with a slope of 500
import jax
import jax.numpy as jnp


def heading(velocity):
    return jnp.arctan2(velocity[:, 1] + 1e-3, velocity[:, 0] + 1e-3)


def cost(velocity, wanted):
    return jnp.sum((heading(velocity) - wanted) ** 2)


# the second vehicle stands still
velocity = jnp.array([[1.0, 1.0], [0.0, 0.0], [0.0, 2.0]])
wanted = jnp.array([0.0, 0.5, 1.5])
grads = jax.jit(jax.grad(cost))(velocity, wanted)
print([[round(float(g), 4) for g in row] for row in grads])
