import jax
import jax.numpy as jnp

config = {"heads": 2, "width": 8, "scale": 0.3}


def make(shape, phase):
    n = shape[0] * shape[1]
    return config["scale"] * jnp.sin(jnp.arange(n) * 1.7 + phase).reshape(shape)


def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def attention(p, cfg, x):
    t, d = x.shape
    heads = cfg["heads"]
    split = lambda w: (x @ w).reshape(t, heads, d // heads).transpose(1, 0, 2)
    q, k, v = split(p["q"]), split(p["k"]), split(p["v"])
    scores = jnp.einsum("htd,hsd->hts", q, k) / jnp.sqrt(d / heads)
    causal = jnp.tril(jnp.ones((t, t), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
    return jnp.einsum("hts,hsd->thd", weights, v).reshape(t, d) @ p["o"]


@jax.jit
def forward(params, x):
    cfg = config
    for p in params:
        x = x + attention(p, cfg, layer_norm(x))
        x = x + jax.nn.gelu(layer_norm(x) @ p["up"]) @ p["down"]
    return x


d = config["width"]
shapes = {"q": (d, d), "k": (d, d), "v": (d, d), "o": (d, d), "up": (d, 16), "down": (16, d)}
params = [{n: make(s, i + layer) for i, (n, s) in enumerate(shapes.items())} for layer in range(2)]
tokens = jnp.cos(jnp.arange(5.0 * d)).reshape(5, d)
out = forward(params, tokens)
print(out.shape, round(float(jnp.abs(out).mean()), 2))
