import jax
import jax.numpy as jnp


def layer_norm(x):
    centered = x - x.mean(axis=-1, keepdims=True)
    return centered / jnp.sqrt((centered**2).mean(axis=-1, keepdims=True) + 1e-5)


def attention(params, x):
    q, k, v = (x @ params[name] for name in ("q", "k", "v"))
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape, dtype=bool))
    return jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1) @ v


@jax.jit
def block(params, x):
    x = x + attention(params, layer_norm(x))
    return x + jax.nn.gelu(layer_norm(x) @ params["up"]) @ params["down"]


shapes = {"q": (8, 8), "k": (8, 8), "v": (8, 8), "up": (8, 16), "down": (16, 8)}
keys = dict(zip(shapes, jax.random.split(jax.random.key(0), len(shapes)), strict=True))
params = {name: 0.3 * jax.random.normal(keys[name], shape) for name, shape in shapes.items()}
x = jax.random.normal(jax.random.key(1), (6, 8))
changed = block(params, x.at[4, 0].add(1.0))
same = jnp.abs(changed - block(params, x)).max(axis=1) < 1e-6
print(same.tolist())
