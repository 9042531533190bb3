# error: TypeError
# expect: TypeError | ValueError
# line: 14
# depends: -
# fix: tuple
# result: [-12.5, -5.5, 3.5, 14.5]

import jax
import jax.numpy as jnp


@jax.jit
def window(signal, start):
    piece = jax.lax.dynamic_slice(signal, start, (4,))
    return piece - piece.mean()


signal = jnp.arange(10.0) ** 2
print([round(float(v), 3) for v in window(signal, 3)])
