# One correct fixed version of array_np_linalg_inverse.py
import jax
import jax.numpy as jnp

x_train = jnp.array([[1.0, 0.2], [1.0, 1.1], [1.0, 1.9], [1.0, 3.2]])
y_train = jnp.array([0.9, 2.2, 2.8, 4.4])
x_val = jnp.array([[1.0, 0.5], [1.0, 2.5]])
y_val = jnp.array([1.4, 3.4])


def ridge_fit(ridge):
    gram = x_train.T @ x_train + ridge * jnp.eye(2)
    return jnp.linalg.solve(gram, x_train.T @ y_train)


def validation_error(ridge):
    coef = ridge_fit(ridge)
    return jnp.mean((x_val @ coef - y_val) ** 2)


ridge = 1.0
for _ in range(20):
    ridge = ridge - 0.5 * jax.grad(validation_error)(ridge)
print(round(float(validation_error(ridge)), 4), bool(ridge < 1.0))
