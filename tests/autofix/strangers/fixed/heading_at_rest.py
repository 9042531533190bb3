# One correct fixed version of heading_at_rest.py
import jax
import jax.numpy as jnp


def heading(velocity):
    rest = jnp.all(velocity == 0.0, axis=1)
    forward = jnp.where(rest, 1.0, velocity[:, 0])
    return jnp.where(rest, 0.0, jnp.arctan2(velocity[:, 1], forward))


def cost(velocity, wanted):
    return jnp.sum((heading(velocity) - wanted) ** 2)


# the second vehicle stands still
velocity = jnp.array([[1.0, 1.0], [0.0, 0.0], [0.0, 2.0]])
wanted = jnp.array([0.0, 0.5, 1.5])
grads = jax.jit(jax.grad(cost))(velocity, wanted)
print([[round(float(g), 4) for g in row] for row in grads])
