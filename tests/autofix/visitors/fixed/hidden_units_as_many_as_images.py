# One correct fixed version of hidden_units_as_many_as_images.py
import jax
import jax.numpy as jnp


def score(weights, image):
    """The largest response of a bank of filters."""
    return jnp.max(weights @ image)


# four filters and, in this test, four images
weights = jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
images = jnp.array([[0.1, 0.2, 0.9], [0.5, 0.4, 0.3], [0.2, 0.8, 0.1], [0.3, 0.3, 0.3]])

scores = jax.vmap(score, in_axes=(None, 0))(weights, images)
print([round(float(s), 3) for s in scores])
