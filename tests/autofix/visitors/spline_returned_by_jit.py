# error: TypeError
# line: 23
# also-line: 14, 27
# depends: -
# fix: return_data
# fixed-file: fixed/spline_returned_by_jit.py
# result: [0.52, 0.0, 5.0]
# family: types/function-returned-from-jit

import jax
import jax.numpy as jnp


@jax.jit
def fit_cubic(x, y):
    """Least-squares cubic through calibration points."""
    powers = jnp.stack([x**k for k in range(4)], axis=1)
    coefficients = jnp.linalg.lstsq(powers, y)[0]

    def evaluate(t):
        return sum(c * t**k for k, c in enumerate(coefficients))

    return evaluate


x = jnp.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
calibration = fit_cubic(x, x**3 - 2.0 * x + 1.0)
print([round(float(calibration(t)), 2) for t in (0.25, 1.0, 2.0)])
