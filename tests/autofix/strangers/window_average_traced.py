# error: IndexError
# expect: IndexError | TracerIntegerConversionError | ConcretizationTypeError
# line: 18
# depends: center, width
# fix: mask
# fixed-file: fixed/window_average_traced.py
# result: [18.0, 2.0, 15.0]
# family: 3/slice-to-traced-length

import jax
import jax.numpy as jnp

SPECTRUM = jnp.array([0.0, 1.0, 5.0, 9.0, 4.0, 1.0, 0.0, 2.0])


def peak_area(center, width):
    left = jnp.maximum(center - width, 0)
    return SPECTRUM[left : center + width + 1].sum()


@jax.jit
def areas(centers, widths):
    return jax.vmap(peak_area)(centers, widths)


print(areas(jnp.array([3, 7, 1]), jnp.array([1, 0, 2])).tolist())
