# One correct fixed version of captured_training_images.py
import jax
import jax.numpy as jnp

images = jnp.linspace(0.0, 1.0, 600 * 28 * 28).reshape(600, 28 * 28)


@jax.jit
def batch_mean(weights, images, indices):
    batch = images[indices]
    return jnp.mean(batch @ weights)


weights = jnp.ones(28 * 28) / (28 * 28)
means = [float(batch_mean(weights, images, jnp.arange(32) + 32 * k)) for k in range(3)]
print([round(mean, 4) for mean in means])
