"""Training steps to plan: a GPT with a scan over its layers, and a classifier of digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.sharding import PartitionSpec as P


@dataclass(frozen=True)
class GPT:
    """The sizes of a GPT."""

    layers: int
    width: int
    heads: int
    vocabulary: int
    length: int
    dtype: str = "float32"
    remat: bool = False
    rows: tuple = ()  # the mesh axes that cut the batch; (): left to XLA
    microbatches: int = 0  # of a pipeline; 0: a scan over the layers
    flash: bool = (
        False  # compute the weights of attention again in the backward pass, as kernels do
    )

    def shapes(self):
        n, d, v = self.layers, self.width, self.vocabulary
        return {
            "embedding": (v, d),
            "scale": (n, 2, d),
            "qkv": (n, d, 3, d),
            "out": (n, d, d),
            "up": (n, d, 4 * d),
            "down": (n, 4 * d, d),
        }

    def matmul_flops(self, tokens):
        """The FLOPs of all matrix products in one training step, over all devices."""
        n, d, v, t = self.layers, self.width, self.vocabulary, self.length
        weights = n * 12 * d * d
        attention = n * 2 * t * d  # scores, and the sum of values: per token
        layer = weights + attention
        return tokens * 2 * (layer * (4 if self.remat else 3) + 3 * d * v)

    def state(self, make):
        params = {k: make(s, self.dtype) for k, s in self.shapes().items()}
        return {
            "params": params,
            "mu": {k: make(s, "float32") for k, s in self.shapes().items()},
            "nu": {k: make(s, "float32") for k, s in self.shapes().items()},
        }

    def structs(self, batch):
        return self.state(sagax.ShapeDtypeStruct), sagax.ShapeDtypeStruct(
            (batch, self.length + 1), "int32"
        )

    def arrays(self, batch, seed=0):
        rng = np.random.default_rng(seed)

        def make(shape, dtype):
            return snp.asarray(rng.normal(0, 0.02, shape), dtype)

        tokens = rng.integers(0, self.vocabulary, (batch, self.length + 1))
        state = self.state(make)
        state["nu"] = sagax.tree.map(lambda x: x * x, state["nu"])
        return state, snp.asarray(tokens, "int32")

    def logits(self, params, tokens):
        d, h = self.width, self.heads
        mask = snp.tril(snp.ones((self.length, self.length), bool))

        def cut(x, rows):
            return lax.with_sharding_constraint(x, P(rows)) if rows else x

        def attention(q, k, v):
            scores = snp.einsum("bthe,bshe->bhts", q, k) / np.sqrt(d // h).astype(self.dtype)
            scores = snp.where(mask, scores, snp.asarray(-1e9, self.dtype))
            weights = sagax.nn.softmax(scores.astype("float32")).astype(self.dtype)
            return snp.einsum("bhts,bshe->bthe", weights, v)

        if self.flash:
            attention = sagax.checkpoint(attention)
        # in a pipeline each device has its own rows along "data"
        inner = tuple(a for a in self.rows if not (self.microbatches and a == "data"))

        def layer(x, p):
            x = cut(x, inner)
            y = normalized(x) * p["scale"][0]
            q, k, v = (
                snp.einsum("btd,de->bte", y, p["qkv"][:, i]).reshape(*y.shape[:2], h, d // h)
                for i in range(3)
            )
            x = x + attention(q, k, v).reshape(y.shape) @ p["out"]
            y = normalized(x) * p["scale"][1]
            return x + sagax.nn.gelu(y @ p["up"]) @ p["down"]

        if self.remat:
            layer = sagax.checkpoint(layer)
        x = cut(params["embedding"][tokens], self.rows)
        layers = {k: v for k, v in params.items() if k != "embedding"}
        if self.microbatches:
            x = sagax.plan.pipeline(layer, x, layers, microbatches=self.microbatches)
            x = cut(x, (*self.rows, "pipeline") if self.rows else ())
        else:
            x = cut(lax.scan(lambda x, p: (layer(x, p), None), x, layers)[0], self.rows)
        return normalized(x) @ params["embedding"].T

    def loss(self, params, tokens):
        logits = self.logits(params, tokens[:, :-1]).astype("float32")
        logs = sagax.nn.log_softmax(logits)
        picked = snp.take_along_axis(logs, tokens[:, 1:, None], -1)
        return -snp.mean(picked)

    def step(self, state, tokens):
        """One step of Adam."""
        loss, grads = sagax.value_and_grad(self.loss)(state["params"], tokens)
        mu = sagax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype("float32"), state["mu"], grads)
        nu = sagax.tree.map(
            lambda v, g: 0.99 * v + 0.01 * g.astype("float32") ** 2, state["nu"], grads
        )
        params = sagax.tree.map(
            lambda p, m, v: (p - 1e-3 * m / (snp.sqrt(v) + 1e-8)).astype(p.dtype),
            state["params"],
            mu,
            nu,
        )
        return {"params": params, "mu": mu, "nu": nu}, loss

    def specs(self, data="data", fsdp=None, tensor=None, stages=None):
        """The shardings of the state and of the tokens."""
        params = {
            "embedding": P(tensor, fsdp),
            "scale": P(stages),
            "qkv": P(stages, fsdp, None, tensor),
            "out": P(stages, tensor, fsdp),
            "up": P(stages, fsdp, tensor),
            "down": P(stages, tensor, fsdp),
        }
        rows = tuple(a for a in (data, fsdp) if a)
        return {"params": params, "mu": params, "nu": params}, P(rows)


def normalized(x):
    y = x.astype("float32")
    y = y - snp.mean(y, -1, keepdims=True)
    return (y / snp.sqrt(snp.mean(y * y, -1, keepdims=True) + 1e-5)).astype(x.dtype)


SMALL = GPT(layers=4, width=64, heads=4, vocabulary=128, length=32)


def digits_step(params, images, labels):
    """One step of gradient descent of a classifier of digits with two layers."""

    def loss(params):
        hidden = snp.maximum(images @ params["first"], 0)
        logs = sagax.nn.log_softmax(hidden @ params["second"])
        return -snp.mean(snp.take_along_axis(logs, labels[:, None], -1))

    grads = sagax.grad(loss)(params)
    return sagax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def digits_structs(batch, width=256):
    params = {
        "first": sagax.ShapeDtypeStruct((64, width), "float32"),
        "second": sagax.ShapeDtypeStruct((width, 10), "float32"),
    }
    images = sagax.ShapeDtypeStruct((batch, 64), "float32")
    return params, images, sagax.ShapeDtypeStruct((batch,), "int32")
