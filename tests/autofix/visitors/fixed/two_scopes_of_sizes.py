# One correct fixed version of two_scopes_of_sizes.py
import jax
import jax.export
import jax.numpy as jnp


def smooth(x, grid, values):
    """Kernel regression: values at the knots of a grid, asked for at x."""
    weights = jnp.exp(-8.0 * (x[:, None] - grid[None, :]) ** 2)
    return weights @ values / weights.sum(axis=1)


queries, knots = jax.export.symbolic_shape("q, k")
specs = (
    jax.ShapeDtypeStruct((queries,), jnp.float32),
    jax.ShapeDtypeStruct((knots,), jnp.float32),
    jax.ShapeDtypeStruct((knots,), jnp.float32),
)
exported = jax.export.export(jax.jit(smooth))(*specs)
x = jnp.array([0.5, 1.5])
grid = jnp.array([0.0, 1.0, 2.0])
print([round(float(v), 4) for v in exported.call(x, grid, grid**2)])
