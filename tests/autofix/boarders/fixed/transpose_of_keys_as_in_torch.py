import jax
import jax.numpy as jnp


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


@jax.jit
def attend(q, k, v):
    q, k, v = (split_heads(t, 2) for t in (q, k, v))
    scores = q @ jnp.swapaxes(k, -2, -1)
    weights = jax.nn.softmax(scores / jnp.sqrt(q.shape[-1]), axis=-1)
    out = (weights @ v).transpose(0, 2, 1, 3)
    return out.reshape(out.shape[0], out.shape[1], -1)


x = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)
out = attend(x, x, jnp.cos(x))
print(out.shape, out[0, 1].round(3).tolist())
