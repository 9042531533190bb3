# error: ModuleNotFoundError
# expect: ModuleNotFoundError | ImportError
# line: 8
# depends: -
# fix: renamed_function
# result: [1.0, -2.0, 0.5]

from jax.config import config

import jax
import jax.numpy as jnp

config.update("jax_debug_nans", False)


def vandermonde_fit(x, y, degree):
    basis = jnp.stack([x**d for d in range(degree + 1)], axis=1)
    coefficients, *_ = jnp.linalg.lstsq(basis, y)
    return coefficients


x = jnp.linspace(-1.0, 1.0, 21)
coefficients = jax.jit(vandermonde_fit, static_argnums=2)(x, 1.0 - 2.0 * x + 0.5 * x**2, 2)
print([round(c, 2) for c in coefficients.tolist()])
