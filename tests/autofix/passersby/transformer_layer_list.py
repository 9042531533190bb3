# error: TracerIntegerConversionError
# expect: TracerIntegerConversionError | TypeError
# line: 50
# depends: i
# fix: stack_layers
# fixed-file: fixed/transformer_layer_list.py
# result: (2, 8) ; finite True

"""A tiny pre-norm transformer encoder applied with a compact layer loop."""
import jax
import jax.numpy as jnp

D_MODEL, HEADS, LAYERS = 8, 2, 3


def init_layer(key):
    ks = jax.random.split(key, 4)
    scale = 1.0 / jnp.sqrt(D_MODEL)
    return {
        "qkv": scale * jax.random.normal(ks[0], (D_MODEL, 3 * D_MODEL)),
        "proj": scale * jax.random.normal(ks[1], (D_MODEL, D_MODEL)),
        "up": scale * jax.random.normal(ks[2], (D_MODEL, 2 * D_MODEL)),
        "down": scale * jax.random.normal(ks[3], (2 * D_MODEL, D_MODEL)),
    }


def layer_norm(x):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5)


def attention(p, x):
    t = x.shape[0]
    q, k, v = jnp.split(x @ p["qkv"], 3, axis=-1)
    q, k, v = (a.reshape(t, HEADS, -1).transpose(1, 0, 2) for a in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) / jnp.sqrt(q.shape[-1])
    causal = jnp.tril(jnp.ones((t, t), dtype=bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
    return (weights @ v).transpose(1, 0, 2).reshape(t, D_MODEL) @ p["proj"]


def block(p, x):
    x = x + attention(p, layer_norm(x))
    return x + jax.nn.gelu(layer_norm(x) @ p["up"]) @ p["down"]


def encode(layers, x):
    def body(i, h):
        return block(layers[i], h)

    return layer_norm(jax.lax.fori_loop(0, len(layers), body, x))


@jax.jit
def pooled(layers, batch):
    return jax.vmap(lambda x: encode(layers, x).mean(axis=0))(batch)


keys = jax.random.split(jax.random.key(0), LAYERS)
layers = [init_layer(k) for k in keys]
batch = jnp.sin(jnp.arange(2 * 5 * D_MODEL, dtype=jnp.float32)).reshape(2, 5, D_MODEL)
out = pooled(layers, batch)
print(out.shape)
print("finite", bool(jnp.isfinite(out).all()))
