# error: none
# expect: RecompilationWarning
# jax-differs: jax silently compiles the inner function again for each fold
# line: 16
# also-line: 23
# depends: -
# fix: hoist_jit
# fixed-file: fixed/recompile_inner_function.py
# result: 0.0367

import jax
import jax.numpy as jnp


def fit(x, y, steps=60):
    @jax.jit
    def step(coef):
        grad = 2.0 * x.T @ (x @ coef - y) / x.shape[0]
        return coef - 0.05 * grad

    coef = jnp.zeros(x.shape[1])
    for _ in range(steps):
        coef = step(coef)
    return coef


x = jnp.array([[1.0, 0.1], [1.0, 0.9], [1.0, 2.1], [1.0, 2.9], [1.0, 4.2], [1.0, 5.0]])
y = jnp.array([1.1, 1.9, 3.2, 3.8, 5.1, 6.2])
errors = []
for fold in range(6):
    keep = jnp.array([i for i in range(6) if i != fold])
    coef = fit(x[keep], y[keep])
    errors.append(float((x[fold] @ coef - y[fold]) ** 2))
print(round(sum(errors) / 6, 4))
