# One correct fixed version of check_of_a_vector.py
import jax
import jax.numpy as jnp
from jax.experimental import checkify


def log_density(x):
    checkify.check(jnp.all(x > 0), "density of a value that is not positive")
    return jnp.sum(jnp.log(x) - x)


checked = checkify.checkify(jax.jit(log_density))
error, value = checked(jnp.array([0.5, 1.0, 2.0]))
error.throw()
print(round(float(value), 4))
