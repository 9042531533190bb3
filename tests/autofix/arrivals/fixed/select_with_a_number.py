# One correct fixed version of select_with_a_number.py
import jax
import jax.numpy as jnp


@jax.jit
def relu_sum(x):
    return jnp.where(x > 0, x, 0.0).sum()


print(float(relu_sum(jnp.array([-1.0, 2.0, 3.5]))))
