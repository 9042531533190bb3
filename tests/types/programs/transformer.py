"""Run one training step of a small transformer."""

from dataclasses import dataclass
from typing import TypedDict

import sagax
import sagax.numpy as snp
from sagax import Array, nn, random


class Block(TypedDict):
    qkv: Array
    out: Array
    up: Array
    down: Array


@sagax.tree_util.register_dataclass
@dataclass
class Model:
    embedding: Array
    positions: Array
    blocks: list[Block]


def init(key: Array, vocabulary: int, width: int, length: int, depth: int) -> Model:
    normal = nn.initializers.normal(0.02)
    keys = iter(random.split(key, 4 * depth + 2))
    blocks: list[Block] = [
        {
            "qkv": normal(next(keys), (width, 3 * width)),
            "out": normal(next(keys), (width, width)),
            "up": normal(next(keys), (width, 4 * width)),
            "down": normal(next(keys), (4 * width, width)),
        }
        for _ in range(depth)
    ]
    embedding = normal(next(keys), (vocabulary, width))
    return Model(embedding, normal(next(keys), (length, width)), blocks)


def attention(block: Block, x: Array, heads: int) -> Array:
    n, width = x.shape
    q, k, v = snp.split((x @ block["qkv"]).reshape(n, heads, -1), 3, axis=-1)
    scores = snp.einsum("qhd,khd->hqk", q, k) / snp.sqrt(width // heads)
    causal = snp.tril(snp.ones((n, n), dtype=bool))
    weights = nn.softmax(snp.where(causal, scores, -snp.inf), axis=-1)
    return snp.einsum("hqk,khd->qhd", weights, v).reshape(n, width) @ block["out"]


@sagax.checkpoint
def layer(block: Block, x: Array) -> Array:
    x = x + attention(block, nn.standardize(x), heads=2)
    return x + nn.gelu(nn.standardize(x) @ block["up"]) @ block["down"]


def logits(model: Model, tokens: Array) -> Array:
    x = model.embedding[tokens] + model.positions[: tokens.shape[0]]
    for block in model.blocks:
        x = layer(block, x)
    return x @ model.embedding.T


def loss(model: Model, batch: Array) -> Array:
    out = sagax.vmap(logits, in_axes=(None, 0))(model, batch[:, :-1])
    chosen = snp.take_along_axis(nn.log_softmax(out), batch[:, 1:, None], axis=-1)
    return -chosen.mean()


@sagax.jit(donate_argnums=0)
def update(model: Model, batch: Array, rate: float) -> tuple[Model, Array]:
    value, grads = sagax.value_and_grad(loss)(model, batch)
    return sagax.tree.map(lambda p, g: p - rate * g, model, grads), value


model = init(random.key(0), 11, 8, 6, 1)
count = sum(leaf.size for leaf in sagax.tree.leaves(model))
model, value = update(model, random.randint(random.key(1), (2, 6), 0, 11), 0.1)
print(count, f"{value:.2f}", model.blocks[0]["qkv"].dtype)
