# One correct fixed version of sum_of_generator.py
import jax
import jax.numpy as jnp


@jax.jit
def penalty(params):
    return sum(jnp.sum(p**2) for p in jax.tree.leaves(params))


print(float(penalty({"w": jnp.array([1.0, 2.0]), "b": jnp.array(3.0)})))
