# One correct fixed version of where_without_else.py
import jax
import jax.numpy as jnp


@jax.jit
def penalty(slack):
    return jnp.sum(jnp.where(slack > 0, slack**2, 0.0))


print(float(penalty(jnp.array([-1.0, 2.0, 3.0]))))
