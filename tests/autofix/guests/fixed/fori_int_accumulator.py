# One correct fixed version of fori_int_accumulator.py
import jax
import jax.numpy as jnp


@jax.jit
def trapezoid_area(samples, spacing):
    def add_panel(i, area):
        return area + 0.5 * spacing * (samples[i] + samples[i + 1])

    start = jnp.zeros((), dtype=samples.dtype)
    return jax.lax.fori_loop(0, samples.shape[0] - 1, add_panel, start)


grid = jnp.linspace(0.0, jnp.pi, 21)
print(round(float(trapezoid_area(jnp.sin(grid), grid[1] - grid[0])), 4))
