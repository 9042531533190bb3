# One correct fixed version of gru_carry_batch.py
import jax
import jax.numpy as jnp


def cell(params, hidden, frame):
    gate = jax.nn.sigmoid(frame @ params["wz"] + hidden @ params["uz"])
    fresh = jnp.tanh(frame @ params["wh"] + hidden @ params["uh"])
    return gate * hidden + (1 - gate) * fresh


def encode(params, frames):
    def step(hidden, frame):
        hidden = cell(params, hidden, frame)
        return hidden, hidden.mean()

    start = jnp.zeros((frames.shape[1], 5))
    return jax.lax.scan(step, start, frames)


keys = iter(jax.random.split(jax.random.key(0), 5))
params = {
    "wz": jax.random.normal(next(keys), (3, 5)) * 0.3,
    "uz": jax.random.normal(next(keys), (5, 5)) * 0.3,
    "wh": jax.random.normal(next(keys), (3, 5)) * 0.3,
    "uh": jax.random.normal(next(keys), (5, 5)) * 0.3,
}
frames = jax.random.normal(next(keys), (7, 4, 3))  # time, batch, features
last, means = encode(params, frames)
print(last.shape, round(float(last.sum()), 4), round(float(means.sum()), 4))
