# error: none
# expect: none
# result: uint8 255

import jax
import jax.numpy as jnp


@jax.jit
def augment(image, key):
    x = image.astype(jnp.float32) / 255
    flip = jax.random.bernoulli(key)
    x = jnp.where(flip, x[:, ::-1], x)
    return jnp.clip(x * 1.2 * 255, 0, 255).astype(jnp.uint8)


image = (jnp.arange(48) * 5).astype(jnp.uint8).reshape(4, 4, 3)
out = augment(image, jax.random.key(2))
print(out.dtype, int(out.max()))
