# error: none
# expect: ZeroGradientWarning
# jax-differs: jax silently returns a gradient of zeros
# line: 19
# also-line: 27, 30
# depends: position
# fix: interpolate
# fixed-file: fixed/pixel_position_cast.py
# result: 4.0 moved: True
# family: 2/zero-gradient

import jax
import jax.numpy as jnp

IMAGE = jnp.array([0.0, 1.0, 4.0, 9.0, 16.0, 25.0])


def brightness(position):
    column = position.astype(jnp.int32)
    return IMAGE[column]


def misfit(position, target):
    return (brightness(position) - target) ** 2


slope = jax.jit(jax.grad(misfit))
position = jnp.array(1.5)
for _ in range(60):
    position = position - 0.005 * slope(position, 12.5)
print(round(float(brightness(jnp.array(2.0))), 3), "moved:", bool(jnp.abs(position - 1.5) > 0.5))
