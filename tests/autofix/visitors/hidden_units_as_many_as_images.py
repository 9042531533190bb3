# error: none
# expect: AmbiguousAxesWarning
# jax-differs: jax silently maps over the rows of the weights too
# line: 24
# depends: -
# fix: in_axes
# fixed-file: fixed/hidden_units_as_many_as_images.py
# result: [1.2, 1.2, 1.1, 0.9]
# family: silent/in-axes-by-luck

import jax
import jax.numpy as jnp


def score(weights, image):
    """The largest response of a bank of filters."""
    return jnp.max(weights @ image)


# four filters and, in this test, four images
weights = jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
images = jnp.array([[0.1, 0.2, 0.9], [0.5, 0.4, 0.3], [0.2, 0.8, 0.1], [0.3, 0.3, 0.3]])

scores = jax.vmap(score)(weights, images)
print([round(float(s), 3) for s in scores])
