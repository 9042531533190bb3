import jax
import jax.numpy as jnp


@jax.jit
def fnv(data):
    """A hash of bytes; the products are meant modulo 2**32."""

    def mix(h, byte):
        return (h ^ byte.astype(jnp.uint32)) * jnp.uint32(16777619), None

    return jax.lax.scan(mix, jnp.uint32(2166136261), data)[0]


data = jnp.array(list(b"hello"), jnp.uint8)
print(hex(int(fnv(data))))
