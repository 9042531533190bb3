# One correct fixed version of spline_returned_by_jit.py
import jax
import jax.numpy as jnp


@jax.jit
def fit_cubic(x, y):
    """Least-squares cubic through calibration points."""
    powers = jnp.stack([x**k for k in range(4)], axis=1)
    coefficients = jnp.linalg.lstsq(powers, y)[0]
    return coefficients


x = jnp.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
coefficients = fit_cubic(x, x**3 - 2.0 * x + 1.0)


def calibration(t):
    return sum(c * t**k for k, c in enumerate(coefficients))


print([round(float(calibration(t)), 2) for t in (0.25, 1.0, 2.0)])
