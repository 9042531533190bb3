# error: none
# expect: none
# result: loss fell True ; accuracy ok True

"""A compact trainer: host-side batching and logging, one compiled step, EMA weights."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


def spirals(n, seed=0):
    rng = np.random.default_rng(seed)
    t = np.sqrt(rng.random((2, n))) * 2.5 + 0.3
    sign = np.array([1.0, -1.0])[:, None]
    x = np.stack([sign * t * np.cos(2 * t), sign * t * np.sin(2 * t)], axis=-1)
    return x.reshape(-1, 2).astype(np.float32), np.repeat([0, 1], n).astype(np.int32)


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(x) - size + 1, size):
        rows = order[start:start + size]
        yield x[rows], y[rows]


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [{"w": jax.random.normal(k, (m, n)) * jnp.sqrt(2.0 / m), "b": jnp.zeros(n)}
            for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def logits(params, x):
    *hidden, last = params
    for layer in hidden:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def loss_fn(params, x, y):
    out = logits(params, x)
    nll = -jnp.take_along_axis(jax.nn.log_softmax(out), y[:, None], axis=1).mean()
    return nll, jnp.mean(jnp.argmax(out, axis=1) == y)


@partial(jax.jit, donate_argnums=(0,))
def train_step(state, x, y, lr):
    (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"], x, y)
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
    grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 5.0 / (norm + 1e-9)), grads)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - lr * v, state["params"], velocity)
    frozen = jax.lax.stop_gradient(params)
    ema = jax.tree.map(lambda e, p: 0.98 * e + 0.02 * p, state["ema"], frozen)
    return {"params": params, "velocity": velocity, "ema": ema}, {"loss": loss, "acc": acc}


class Trainer:
    def __init__(self, seed, sizes):
        params = init(jax.random.key(seed), sizes)
        zeros = jax.tree.map(jnp.zeros_like, params)
        self.state = {"params": params, "velocity": zeros, "ema": jax.tree.map(jnp.copy, params)}
        self.rng = np.random.default_rng(seed)
        self.history = []

    def epoch(self, x, y, lr):
        losses = []
        for xb, yb in batches(x, y, 50, self.rng):
            self.state, metrics = train_step(self.state, xb, yb, lr)
            losses.append(metrics["loss"])
        self.history.append(float(jnp.stack(losses).mean()))


x, y = spirals(200)
trainer = Trainer(0, (2, 32, 32, 2))
for e in range(60):
    trainer.epoch(x, y, 0.05 if e < 40 else 0.01)
_, accuracy = jax.jit(loss_fn)(trainer.state["ema"], x, y)
print("loss fell", trainer.history[-1] < 0.5 * trainer.history[0])
print("accuracy ok", bool(accuracy > 0.9))
