import jax
import jax.numpy as jnp

models = {}


@jax.jit
def solve(x, y):
    design = jnp.stack([jnp.ones_like(x), x], axis=1)
    return jnp.linalg.lstsq(design, y)[0]


def fit(name, x, y):
    intercept, slope = solve(x, y)
    models[name] = lambda z: intercept + slope * z
    return models[name]


x = jnp.array([0.0, 1.0, 2.0])
fit("rising", x, 2.0 * x + 1.0)
fit("falling", x, 3.0 - x)
print([round(float(models[name](4.0)), 3) for name in sorted(models)])
print([round(float(v), 3) for v in jax.jit(models["rising"])(jnp.array([5.0, 6.0]))])
