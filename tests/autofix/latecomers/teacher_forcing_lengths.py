# error: ValueError
# line: 35
# also-line: 42
# depends: -
# fix: shape_match
# fixed-file: fixed/teacher_forcing_lengths.py
# result: learned True

"""Character RNN with teacher forcing over a short string."""
import jax
import jax.numpy as jnp

TEXT = "hello world, hello jax"
CHARS = sorted(set(TEXT))
IDS = jnp.array([CHARS.index(c) for c in TEXT])


def init(key, n_vocab, n_hidden):
    k1, k2, k3 = jax.random.split(key, 3)
    return {
        "embed": 0.3 * jax.random.normal(k1, (n_vocab, n_hidden)),
        "rec": 0.3 * jax.random.normal(k2, (n_hidden, n_hidden)),
        "out": 0.3 * jax.random.normal(k3, (n_hidden, n_vocab)),
    }


def loss_fn(params, inputs, targets):
    def cell(h, pair):
        token, target = pair
        h = jnp.tanh(params["embed"][token] + h @ params["rec"])
        logp = jax.nn.log_softmax(h @ params["out"])
        return h, -logp[target]

    h0 = jnp.zeros(params["rec"].shape[0])
    _, nll = jax.lax.scan(cell, h0, (inputs, targets))
    return nll.mean()


params = init(jax.random.key(1), len(CHARS), 16)
grad_fn = jax.jit(jax.value_and_grad(loss_fn))
for _ in range(60):
    loss, grads = grad_fn(params, IDS, IDS[1:])
    params = jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)
print("learned", bool(loss < 1.0))
