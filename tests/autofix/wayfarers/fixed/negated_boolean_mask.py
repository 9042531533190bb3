# One correct fixed version of negated_boolean_mask.py
import jax
import jax.numpy as jnp


@jax.jit
def split_error(error, inside):
    return jnp.where(inside, error, 0).sum(), jnp.where(~inside, error, 0).sum()


error = jnp.array([0.5, 1.0, 4.0])
print([float(v) for v in split_error(error, error < 2)])
