# One correct fixed version of zero_histogram_matching.py
import jax
import jax.numpy as jnp

EDGES = jnp.linspace(0.0, 1.0, 5)
CENTERS = 0.5 * (EDGES[1:] + EDGES[:-1])
pixels = jnp.array([0.05, 0.1, 0.2, 0.3, 0.35, 0.6])
wanted = jnp.array([0.0, 0.2, 0.5, 0.3])


def histogram(values):
    near = jax.nn.softmax(-(((values[:, None] - CENTERS) / 0.15) ** 2), axis=1)
    return near.mean(axis=0)


def mismatch(gamma):
    return jnp.sum((histogram(pixels**gamma) - wanted) ** 2)


gamma = 1.0
for _ in range(50):
    gamma = gamma - 0.05 * jax.grad(mismatch)(gamma)
print(bool(gamma < 0.8))
