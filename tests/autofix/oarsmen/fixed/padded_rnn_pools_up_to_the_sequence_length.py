import jax
import jax.numpy as jnp

T, D, H = 6, 3, 4


def init_params():
    grid = jnp.arange(D * H + H * H, dtype=jnp.float32)
    w = 0.5 * jnp.sin(grid)
    return {
        "wx": w[: D * H].reshape(D, H),
        "wh": w[D * H :].reshape(H, H),
        "b": jnp.zeros(H),
        "out": jnp.linspace(-1.0, 1.0, H),
    }


def rnn(params, sequence):
    def cell(h, x):
        h = jnp.tanh(x @ params["wx"] + h @ params["wh"] + params["b"])
        return h, h

    _, hidden = jax.lax.scan(cell, jnp.zeros(H), sequence)
    return hidden


def pool(hidden, length):
    # the rest of the sequence is padding
    mask = jnp.arange(hidden.shape[0]) < length
    return jnp.where(mask[:, None], hidden, 0.0).sum(axis=0) / length


def loss_fn(params, sequences, lengths, targets):
    hidden = jax.vmap(rnn, in_axes=(None, 0))(params, sequences)
    pooled = jax.vmap(pool)(hidden, lengths)
    return jnp.mean((pooled @ params["out"] - targets) ** 2)


sequences = jnp.cos(jnp.arange(5.0 * T * D) * 0.37).reshape(5, T, D)
lengths = jnp.array([6, 3, 2, 5, 4])
targets = jnp.array([0.1, -0.2, 0.3, 0.0, 0.5])
params = init_params()
loss, grads = jax.value_and_grad(loss_fn)(params, sequences, lengths, targets)
print(round(float(loss), 3), round(float(jnp.abs(grads["wh"]).sum()), 2))
