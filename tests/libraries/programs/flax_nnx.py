"""Modules of flax.nnx: training with dropout and batch statistics, recurrent, attention, transformations, state."""

import json

import jax
import jax.numpy as jnp
import optax
from flax import nnx

x = jax.random.normal(jax.random.PRNGKey(0), (8, 4))
y = x.sum(1, keepdims=True)


class Model(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 16, rngs=rngs)
        self.norm = nnx.BatchNorm(16, rngs=rngs)
        self.drop = nnx.Dropout(0.1, rngs=rngs)
        self.last = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(self.drop(nnx.relu(self.norm(self.first(x)))))


@nnx.jit
def step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda model: ((model(x) - y) ** 2).mean())(model)
    optimizer.update(model, grads)
    return loss


model = Model(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(1e-2), wrt=nnx.Param)
losses = [float(step(model, optimizer, x, y)) for _ in range(5)]
statistics = model.norm.mean[...].tolist()
model.eval()

graphdef, params, rest = nnx.split(model, nnx.Param, ...)
doubled = nnx.merge(graphdef, jax.tree.map(lambda p: 2 * p, params), rest)


class Counter(nnx.Module):
    def __init__(self):
        self.count = nnx.Variable(jnp.array(0))


counter = Counter()


@nnx.jit
def count(counter):
    counter.count[...] += 1


for _ in range(3):
    count(counter)


@nnx.vmap(in_axes=0, out_axes=0)
def ensemble(key):
    return nnx.Linear(4, 2, rngs=nnx.Rngs(key))


members = ensemble(jax.random.split(jax.random.PRNGKey(3), 5))
forward = nnx.vmap(lambda member, x: member(x), in_axes=(0, None))


@nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
def stacked(x, layer):
    return nnx.tanh(layer(x))


@nnx.vmap
def layers(key):
    return nnx.Linear(4, 4, rngs=nnx.Rngs(key))


deep = layers(jax.random.split(jax.random.PRNGKey(4), 3))
rnn = nnx.RNN(nnx.LSTMCell(3, 6, rngs=nnx.Rngs(1)))
attention = nnx.MultiHeadAttention(2, 4, 4, rngs=nnx.Rngs(2), decode=False)
convolution = nnx.Conv(1, 2, (3, 3), rngs=nnx.Rngs(5))
found = {
    "losses": losses,
    "statistics": statistics,
    "evaluated": model(x).tolist(),
    "doubled": doubled(x).tolist(),
    "count": int(counter.count[...]),
    "ensemble": forward(members, x).sum(1).tolist(),
    "deep": stacked(x, deep).tolist(),
    "recurrent": rnn(jnp.ones((2, 5, 3)))[:, -1].tolist(),
    "attention": attention(x[None]).tolist(),
    "convolution": convolution(x.reshape(1, 8, 4, 1)).sum((1, 2)).tolist(),
    "parameters": sum(p.size for p in jax.tree.leaves(nnx.state(model, nnx.Param))),
}
print(json.dumps(found))
