# One correct fixed version of zero_pixel_rounding.py
import jax
import jax.numpy as jnp

image = jnp.array([0.0, 0.1, 0.5, 1.0, 0.5, 0.1, 0.0, 0.0])
target = jnp.array([0.0, 0.0, 0.1, 0.5, 1.0, 0.5, 0.1, 0.0])


def shift(signal, offset):
    position = jnp.arange(signal.shape[0]) - offset
    return jnp.interp(position, jnp.arange(signal.shape[0]), signal)


def mismatch(offset):
    return jnp.sum((shift(image, offset) - target) ** 2)


offset = 0.4
for _ in range(60):
    offset = offset - 0.1 * jax.grad(mismatch)(offset)
print(round(float(offset), 2))
