import jax
import jax.numpy as jnp


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]), axis=-1) @ v


spec = jax.ShapeDtypeStruct((4, 8), jnp.float32)
compiled = jax.jit(attention).lower(spec, spec, spec).compile()

q, k, v = jax.random.normal(jax.random.key(0), (3, 4, 8))
ahead = compiled(q, k, v)
print(ahead.shape, bool(jnp.allclose(ahead, attention(q, k, v), atol=1e-6)))
for _ in range(3):
    q = compiled(q, k, v)
print(q.shape)
