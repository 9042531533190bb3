# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently returns nan gradients
# line: 16
# depends: velocity
# fix: double_where
# fixed-file: fixed/heading_at_rest.py
# result: [[-0.7854, 0.7854], [0.0, 0.0], [-0.0708, 0.0]]
# family: 3/singular-derivative

import jax
import jax.numpy as jnp


def heading(velocity):
    return jnp.arctan2(velocity[:, 1], velocity[:, 0])


def cost(velocity, wanted):
    return jnp.sum((heading(velocity) - wanted) ** 2)


# the second vehicle stands still
velocity = jnp.array([[1.0, 1.0], [0.0, 0.0], [0.0, 2.0]])
wanted = jnp.array([0.0, 0.5, 1.5])
grads = jax.jit(jax.grad(cost))(velocity, wanted)
print([[round(float(g), 4) for g in row] for row in grads])
