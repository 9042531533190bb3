# One correct fixed version of precision_raw_moments.py
import jax
import jax.numpy as jnp


@jax.jit
def summarize(readings):
    mean = jnp.mean(readings)
    variance = jnp.mean((readings - mean) ** 2)
    return mean, variance


pressure = 101325.0 + jnp.array([-0.5, 0.25, 0.75, -0.25, 0.5, -0.75, 0.25, -0.25])
mean, variance = summarize(pressure)
print(round(float(mean), 1), round(float(variance), 3))
