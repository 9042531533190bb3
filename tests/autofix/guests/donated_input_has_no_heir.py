# error: UserWarning
# expect: DonationWarning | UserWarning
# line: 16
# also-line: 25
# depends: frames
# fix: donate_shape
# fixed-file: fixed/donated_input_has_no_heir.py
# result: 11.3125

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnames=("background", "frames"))
def update_background(background, frames, rate):
    average = frames.astype(jnp.float32).mean(axis=0)
    return (1.0 - rate) * background + rate * average


background = jnp.zeros((2, 3))
for shift in range(3):
    frames = jnp.arange(24.0).reshape(4, 2, 3) + shift
    background = update_background(background, frames, 0.5)
print(round(float(background.mean()), 4))
