import jax
import jax.numpy as jnp

Q, R = 0.01, 0.25


def update(carry, z):
    mean, var = carry
    var = var + Q
    gain = var / (var + R)
    mean = mean + gain * (z - mean)
    return (mean, (1.0 - gain) * var), mean


readings = jnp.array([[0.9, 2.1], [1.2, 1.8], [0.7, 2.2], [1.1, 2.0], [1.05, 1.9]])
start = (jnp.array([0.0, 0.0]), 1.0)
(mean, var), track = jax.lax.scan(update, start, readings)
print(track.round(3).tolist())
print(round(float(var), 4))
