# error: TypeError
# line: 14
# depends: image
# fix: any
# result: (1, 1, 2, 2)

import jax
import jax.numpy as jnp


@jax.jit
def edges(image):
    kernel = jnp.array([[[[1.0, -1.0]]]])
    return jax.lax.conv_general_dilated(image, kernel, (1, 1), "VALID")


image = jnp.arange(6.0).reshape(1, 2, 3) ** 2
print(edges(image).shape)
