# error: none
# expect: IntegerOverflowWarning
# line: 14
# depends: -
# fix: any
# result: [[72, 160, 240], [255, 255, 124]] ; True

import jax
import jax.numpy as jnp


@jax.jit
def brighten(image, amount):
    brighter = image + amount
    return jnp.clip(brighter, 0, 255).astype(jnp.uint8)


image = jnp.array([[12, 100, 180], [220, 250, 64]], dtype=jnp.uint8)
amount = jnp.uint8(60)
out = brighten(image, amount)
print(out.tolist())
print(bool(jnp.all(out >= image)))
