# One correct fixed version of trapezoid_by_old_name.py
import jax
import jax.numpy as jnp


@jax.jit
def area(f, x):
    return jnp.trapezoid(f, x)


x = jnp.linspace(0, 1, 11)
print(round(float(area(x**2, x)), 4))
