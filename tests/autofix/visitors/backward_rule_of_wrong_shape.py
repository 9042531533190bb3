# error: ValueError
# expect: ValueError | TypeError
# line: 26
# also-line: 29, 33
# depends: -
# fix: cotangent_shape
# fixed-file: fixed/backward_rule_of_wrong_shape.py
# result: [[1.0, -2.0], [-2.0, 4.0]] [3.0, -3.5]
# family: custom_vjp/bwd-shape

import jax
import jax.numpy as jnp


@jax.custom_vjp
def quadratic_form(A, x):
    return x @ A @ x


def quadratic_form_fwd(A, x):
    return quadratic_form(A, x), (A, x)


def quadratic_form_bwd(residuals, g):
    A, x = residuals
    return g * x @ x, g * (A + A.T) @ x


quadratic_form.defvjp(quadratic_form_fwd, quadratic_form_bwd)

A = jnp.array([[2.0, 0.5], [0.0, 1.0]])
x = jnp.array([1.0, -2.0])
by_matrix, by_vector = jax.grad(quadratic_form, argnums=(0, 1))(A, x)
print(by_matrix.tolist(), by_vector.tolist())
