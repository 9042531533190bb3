# error: TypeError
# line: 12
# depends: -
# fix: shape
# result: (4, 6)

import jax
import jax.numpy as jnp


def flatten(images):
    return images.reshape(images.size(0), -1)


images = jnp.ones((4, 3, 2))
print(flatten(images).shape)
