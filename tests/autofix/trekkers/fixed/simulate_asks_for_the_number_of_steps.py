import jax
import jax.numpy as jnp


def decay(rate, steps):
    times = jnp.linspace(0.0, 1.0, steps)
    return jnp.exp(-rate * times)


print(decay(2.0, 5).round(3).tolist())
