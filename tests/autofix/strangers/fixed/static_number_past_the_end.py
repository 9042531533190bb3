# One correct fixed version of static_number_past_the_end.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(2,))
def moving_average(signal, padding, window):
    padded = jnp.pad(signal, window // 2, constant_values=padding)
    kernel = jnp.ones(window) / window
    return jnp.convolve(padded, kernel, mode="valid")


signal = jnp.array([1.0, 4.0, 2.0, 8.0, 5.0])
print([round(float(v), 4) for v in moving_average(signal, 0.0, 3)])
