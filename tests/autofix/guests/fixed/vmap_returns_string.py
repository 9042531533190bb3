# One correct fixed version of vmap_returns_string.py
import jax
import jax.numpy as jnp


def fit_line(y):
    x = jnp.arange(y.shape[0], dtype=jnp.float32)
    slope = jnp.sum((x - x.mean()) * (y - y.mean())) / jnp.sum((x - x.mean()) ** 2)
    return {"slope": slope, "intercept": y.mean() - slope * x.mean()}


curves = jnp.array([[1.0, 2.0, 3.0], [2.0, 2.0, 5.0], [0.0, -1.0, -2.0]])
fits = jax.vmap(fit_line)(curves)
print([round(float(v), 3) for v in fits["slope"]])
