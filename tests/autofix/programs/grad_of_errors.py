# error: TypeError
# line: 14
# also-line: 12, 17
# depends: -
# fix: scalar_output
# result: [1.0, 4.0]
# grade: ran
import jax
import jax.numpy as jnp


def residuals(theta, xs):
    line = theta[0] + theta[1] * xs
    return jnp.abs(line - 1.0)


print([float(v) for v in jax.grad(residuals)(jnp.array([0.0, 2.0]), jnp.array([0.0, 1.0, 3.0]))])
