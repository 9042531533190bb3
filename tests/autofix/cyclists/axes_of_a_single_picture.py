# error: IndexError
# expect: ValueError
# line: 13
# depends: picture
# fix: axis
# result: [9.616000175476074, 11.894001007080078]

import jax
import jax.numpy as jnp


def contrast(picture):
    center = picture.mean(axis=(1, 2), keepdims=True)
    return jnp.abs(picture - center).max()


pictures = jnp.arange(2 * 3 * 4.0).reshape(2, 3, 4) ** 1.2
print(jax.vmap(contrast)(pictures).round(3).tolist())
