import jax
import jax.numpy as jnp


@jax.jit
def fnv_hash(words):
    def mix(state, word):
        return (state ^ word) * jnp.uint32(16777619), None

    return jax.lax.scan(mix, jnp.uint32(2166136261), words)[0]


words = jnp.array([104, 101, 108, 108, 111], dtype=jnp.uint32)
print(int(fnv_hash(words)))
