# error: TypeError
# expect: TypeError | ValueError
# line: 20
# depends: -
# fix: any
# result: (2, 3, 4) [0.7460000514984131, 0.6270000338554382, 0.8350000381469727, 0.7920000553131104]

import jax
import jax.numpy as jnp


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


@jax.jit
def attend(q, k, v):
    q, k, v = (split_heads(t, 2) for t in (q, k, v))
    scores = q @ k.transpose(-2, -1)
    weights = jax.nn.softmax(scores / jnp.sqrt(q.shape[-1]), axis=-1)
    out = (weights @ v).transpose(0, 2, 1, 3)
    return out.reshape(out.shape[0], out.shape[1], -1)


x = jnp.sin(jnp.arange(24.0)).reshape(2, 3, 4)
out = attend(x, x, jnp.cos(x))
print(out.shape, out[0, 1].round(3).tolist())
