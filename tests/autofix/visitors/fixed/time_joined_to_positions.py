# One correct fixed version of time_joined_to_positions.py
import jax
import jax.numpy as jnp


def features(x, t):
    """Inputs of a denoiser: a batch of points, with one time for each."""
    return jnp.concatenate([x, t[:, None]], axis=-1)


@jax.jit
def denoise(weights, x, t):
    return x - jnp.tanh(features(x, t) @ weights)


x = jnp.array([[0.1, 0.2], [0.3, -0.4], [1.0, 0.0], [0.5, 0.5]])
t = jnp.array([0.0, 0.25, 0.5, 0.75])
weights = jnp.array([[0.3, 0.1], [-0.2, 0.4], [0.5, -0.5]])
print([round(float(v), 4) for v in denoise(weights, x, t).sum(axis=0)])
