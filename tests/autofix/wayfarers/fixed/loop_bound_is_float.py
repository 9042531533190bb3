# One correct fixed version of loop_bound_is_float.py
import jax
import jax.numpy as jnp


def integrate(x, duration, dt):
    def step(i, x):
        return x + dt * jnp.array([x[1], -x[0]])

    return jax.lax.fori_loop(0, int(duration / dt), step, x)


end = integrate(jnp.array([1.0, 0.0]), 1.0, 0.125)
print(round(float(end[0]), 4), round(float(end[1]), 4))
