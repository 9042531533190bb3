# One correct fixed version of recompile_inner_function.py
import jax
import jax.numpy as jnp


@jax.jit
def step(coef, x, y):
    grad = 2.0 * x.T @ (x @ coef - y) / x.shape[0]
    return coef - 0.05 * grad


def fit(x, y, steps=60):

    coef = jnp.zeros(x.shape[1])
    for _ in range(steps):
        coef = step(coef, x, y)
    return coef


x = jnp.array([[1.0, 0.1], [1.0, 0.9], [1.0, 2.1], [1.0, 2.9], [1.0, 4.2], [1.0, 5.0]])
y = jnp.array([1.1, 1.9, 3.2, 3.8, 5.1, 6.2])
errors = []
for fold in range(6):
    keep = jnp.array([i for i in range(6) if i != fold])
    coef = fit(x[keep], y[keep])
    errors.append(float((x[fold] @ coef - y[fold]) ** 2))
print(round(sum(errors) / 6, 4))
