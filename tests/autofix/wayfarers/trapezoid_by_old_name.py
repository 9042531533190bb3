# error: AttributeError
# line: 13
# depends: -
# fix: name
# result: 0.335

import jax
import jax.numpy as jnp


@jax.jit
def area(f, x):
    return jnp.trapz(f, x)


x = jnp.linspace(0, 1, 11)
print(round(float(area(x**2, x)), 4))
