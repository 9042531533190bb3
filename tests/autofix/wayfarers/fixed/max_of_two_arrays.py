# One correct fixed version of max_of_two_arrays.py
import jax
import jax.numpy as jnp


@jax.jit
def pooled(left, right):
    return jnp.maximum(left, right).sum()


print(float(pooled(jnp.array([1.0, 5.0]), jnp.array([2.0, 3.0]))))
