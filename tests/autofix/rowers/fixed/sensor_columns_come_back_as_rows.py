import jax
import jax.numpy as jnp

readings = jnp.array([
    [1.0, 200.0, 0.1, 7.0],
    [2.0, 180.0, 0.4, 7.5],
    [4.0, 260.0, 0.2, 6.0],
    [3.0, 240.0, 0.9, 8.5],
])
coefficients = jnp.array([0.5, -1.0, 2.0, 0.25])


def standardise(column):
    low, high = jnp.quantile(column, jnp.array([0.25, 0.75]))
    return (column - jnp.median(column)) / (high - low)


@jax.jit
def predict(readings):
    scaled = jax.vmap(standardise, in_axes=1, out_axes=1)(readings)
    return scaled @ coefficients


print(predict(readings).round(3).tolist())
