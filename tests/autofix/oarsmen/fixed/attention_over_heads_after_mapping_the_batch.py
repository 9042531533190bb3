import jax
import jax.numpy as jnp

VOCAB, DIM, HEADS = 11, 8, 2


def init(key):
    names = ["embed", "q", "k", "v"]
    shapes = [(VOCAB, DIM)] + 3 * [(DIM, HEADS, DIM // HEADS)]
    keys = jax.random.split(key, len(names))
    return {n: 0.3 * jax.random.normal(k, s) for n, k, s in zip(names, keys, shapes)}


def causal_attention(q, k, v):
    scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    probs = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return jnp.einsum("...hqk,...khd->...qhd", probs, v)


def encode(params, tokens):
    x = params["embed"][tokens]
    q, k, v = (jnp.einsum("td,dhe->the", x, params[n]) for n in "qkv")
    return x + causal_attention(q, k, v).reshape(x.shape)


def next_token_loss(params, batch):
    hidden = jax.vmap(encode, in_axes=(None, 0))(params, batch[:, :-1])
    logp = jax.nn.log_softmax(hidden @ params["embed"].T)
    return -jnp.mean(jnp.take_along_axis(logp, batch[:, 1:, None], axis=-1))


params = init(jax.random.key(0))
batch = jnp.array([[1, 5, 2, 7, 3], [4, 4, 9, 10, 0], [6, 1, 5, 2, 8]])
step = jax.jit(jax.value_and_grad(next_token_loss))
for _ in range(40):
    loss, grads = step(params, batch)
    params = {n: params[n] - 0.5 * grads[n] for n in params}
print(round(float(loss), 1))
