# One correct fixed version of count_above_threshold.py
import jax
import jax.numpy as jnp

intensities = jnp.linspace(0.0, 1.0, 101) ** 2


def area(threshold):
    """The share of pixels that count as bright."""
    return jnp.mean(jax.nn.sigmoid((intensities - threshold) / 0.02))


def mismatch(threshold):
    return (area(threshold) - 0.25) ** 2


threshold = jnp.array(0.2)
for _ in range(200):
    threshold = threshold - 0.2 * jax.grad(mismatch)(threshold)
print(abs(float(threshold) - 0.5625) < 0.03)
