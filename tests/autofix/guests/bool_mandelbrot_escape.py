# error: TracerBoolConversionError
# line: 16
# depends: c
# fix: while_loop
# fixed-file: fixed/bool_mandelbrot_escape.py
# result: 258 20

import jax
import jax.numpy as jnp


def escape_time(c, limit):
    z = 0.0 + 0.0j
    for k in range(limit):
        z = z * z + c
        if jnp.abs(z) > 2.0:
            return k
    return limit


def grid(width, height):
    re = jnp.linspace(-2.0, 0.5, width)
    im = jnp.linspace(-1.0, 1.0, height)
    return (re[None, :] + 1j * im[:, None]).ravel()


points = grid(6, 5)
times = jax.vmap(escape_time, in_axes=(0, None))(points, 20)
print(int(times.sum()), int(times.max()))
