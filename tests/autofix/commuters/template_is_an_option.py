# error: ValueError
# line: 24
# depends: -
# fix: any
# result: 0 ; 1 ; 4

import jax
import jax.numpy as jnp


def distance(picture, template):
    return jnp.sqrt(jnp.sum((picture - template) ** 2))


nearest = jax.jit(
    lambda pictures, template: jnp.argmin(
        jax.vmap(distance, in_axes=(0, None))(pictures, template)
    ),
    static_argnums=1,
)

pictures = jnp.sin(jnp.arange(48.0)).reshape(6, 8)
for template in (jnp.zeros(8), jnp.ones(8), pictures[4] * 0.9):
    print(int(nearest(pictures, template)))
