# error: none
# expect: IntegerOverflowWarning
# line: 18
# depends: shape
# fix: wider_dtype
# result: 4294967296.0

"""Offsets into a large volume, computed from its shape."""
import jax
import jax.numpy as jnp


class Layout:
    item = 8

    def strides(self, shape):
        sizes = jnp.cumprod(shape[::-1])
        return self.item * sizes

    def bytes(self, shape):
        return self.strides(shape)[-1]


@jax.jit
def largest(shapes):
    return jnp.max(jax.vmap(Layout().bytes)(shapes))


print(float(largest(jnp.array([[1024, 1024, 512], [64, 64, 64]]))))
