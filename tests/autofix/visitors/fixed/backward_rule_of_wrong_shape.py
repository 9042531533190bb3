# One correct fixed version of backward_rule_of_wrong_shape.py
import jax
import jax.numpy as jnp


@jax.custom_vjp
def quadratic_form(A, x):
    return x @ A @ x


def quadratic_form_fwd(A, x):
    return quadratic_form(A, x), (A, x)


def quadratic_form_bwd(residuals, g):
    A, x = residuals
    return g * jnp.outer(x, x), g * (A + A.T) @ x


quadratic_form.defvjp(quadratic_form_fwd, quadratic_form_bwd)

A = jnp.array([[2.0, 0.5], [0.0, 1.0]])
x = jnp.array([1.0, -2.0])
by_matrix, by_vector = jax.grad(quadratic_form, argnums=(0, 1))(A, x)
print(by_matrix.tolist(), by_vector.tolist())
