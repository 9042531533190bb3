# One correct fixed version of leak_predictor_closure.py
import jax
import jax.numpy as jnp

models = {}


@jax.jit
def fit(x, y):
    design = jnp.stack([jnp.ones_like(x), x], axis=1)
    coef = jnp.linalg.solve(design.T @ design, design.T @ y)
    residual = y - design @ coef
    return jnp.sqrt(jnp.mean(residual**2)), coef


error, coef = fit(jnp.array([0.0, 1.0, 2.0, 3.0]), jnp.array([1.0, 2.9, 5.1, 7.0]))
models["line"] = lambda z: coef[0] + coef[1] * z
print(round(float(error), 4))
print(round(float(models["line"](4.0)), 3))
