import jax
import jax.numpy as jnp


def attention(q, k, v):
    scores = jnp.einsum("qd,kd->qk", q, k) / jnp.sqrt(q.shape[-1])
    weights = jax.nn.softmax(scores, axis=-1)
    return weights @ v


t = jnp.arange(2 * 3 * 4.0).reshape(2, 3, 4)
q, k, v = jnp.sin(t), jnp.cos(t), t / 10.0
out = jax.vmap(attention)(q, k, v)
print(out.shape)
print(out[:, 0].round(3).tolist())
print(round(float(out.sum()), 2))
