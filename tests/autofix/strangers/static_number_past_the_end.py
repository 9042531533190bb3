# error: ValueError
# expect: ValueError | TypeError
# line: 17
# also-line: 25
# depends: -
# fix: static_argument
# fixed-file: fixed/static_number_past_the_end.py
# result: [1.6667, 2.3333, 4.6667, 5.0, 4.3333]
# family: 3/static-argnums

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(3,))
def moving_average(signal, padding, window):
    padded = jnp.pad(signal, window // 2, constant_values=padding)
    kernel = jnp.ones(window) / window
    return jnp.convolve(padded, kernel, mode="valid")


signal = jnp.array([1.0, 4.0, 2.0, 8.0, 5.0])
print([round(float(v), 4) for v in moving_average(signal, 0.0, 3)])
