# One correct fixed version of window_average_traced.py
import jax
import jax.numpy as jnp

SPECTRUM = jnp.array([0.0, 1.0, 5.0, 9.0, 4.0, 1.0, 0.0, 2.0])


def peak_area(center, width):
    left = jnp.maximum(center - width, 0)
    index = jnp.arange(SPECTRUM.shape[0])
    inside = (index >= left) & (index < center + width + 1)
    return jnp.where(inside, SPECTRUM, 0.0).sum()


@jax.jit
def areas(centers, widths):
    return jax.vmap(peak_area)(centers, widths)


print(areas(jnp.array([3, 7, 1]), jnp.array([1, 0, 2])).tolist())
