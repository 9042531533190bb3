# One correct fixed version of bool_mandelbrot_escape.py
import jax
import jax.numpy as jnp


def escape_time(c, limit):
    def inside(state):
        k, z = state
        return (k < limit) & (jnp.abs(z * z + c) <= 2.0)

    def step(state):
        k, z = state
        return k + 1, z * z + c

    return jax.lax.while_loop(inside, step, (0, jnp.zeros_like(c)))[0]


def grid(width, height):
    re = jnp.linspace(-2.0, 0.5, width)
    im = jnp.linspace(-1.0, 1.0, height)
    return (re[None, :] + 1j * im[:, None]).ravel()


points = grid(6, 5)
times = jax.vmap(escape_time, in_axes=(0, None))(points, 20)
print(int(times.sum()), int(times.max()))
