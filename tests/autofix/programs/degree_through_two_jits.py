# error: ValueError
# line: 19
# depends: degree
# fix: static_args
# result: [1.0, 0.0, 1.0]
# grade: ran
from functools import partial
import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=1)
def powers(x, degree):
    return jnp.stack([x**k for k in range(degree)], axis=-1)


@jax.jit
def fit(x, y, degree):
    return jnp.linalg.lstsq(powers(x, degree + 1), y)[0]


x = jnp.linspace(0.0, 1.0, 9)
print([round(v, 2) for v in fit(x, 1.0 + x**2, 2).tolist()])
