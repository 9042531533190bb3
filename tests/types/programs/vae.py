"""Train a variational autoencoder on synthetic images."""

from functools import partial
from typing import NamedTuple

import sagax
import sagax.numpy as snp
from sagax import Array, lax, nn, random


class Dense(NamedTuple):
    w: Array
    b: Array


class Params(NamedTuple):
    encoder: Dense
    mean: Dense
    log_variance: Dense
    decoder: list[Dense]


def dense(key: Array, n_in: int, n_out: int) -> Dense:
    init = nn.initializers.glorot_normal()
    return Dense(init(key, (n_in, n_out), snp.float32), snp.zeros(n_out))


def init(key: Array, n: int, hidden: int, latent: int) -> Params:
    k1, k2, k3, k4, k5 = random.split(key, 5)
    return Params(
        dense(k1, n, hidden),
        dense(k2, hidden, latent),
        dense(k3, hidden, latent),
        [dense(k4, latent, hidden), dense(k5, hidden, n)],
    )


def apply(layer: Dense, x: Array) -> Array:
    return x @ layer.w + layer.b


def elbo(params: Params, key: Array, x: Array) -> tuple[Array, Array]:
    h = nn.relu(apply(params.encoder, x))
    mean, log_variance = apply(params.mean, h), apply(params.log_variance, h)
    z = mean + snp.exp(0.5 * log_variance) * random.normal(key, mean.shape)
    for layer in params.decoder[:-1]:
        z = nn.relu(apply(layer, z))
    logits = apply(params.decoder[-1], z)
    likelihood = -snp.sum(snp.logaddexp(0.0, snp.where(x > 0.5, -logits, logits)))
    divergence = -0.5 * snp.sum(1 + log_variance - mean**2 - snp.exp(log_variance))
    return likelihood - divergence, divergence


def loss(params: Params, key: Array, batch: Array) -> tuple[Array, Array]:
    keys = random.split(key, len(batch))
    values, divergences = sagax.vmap(elbo, in_axes=(None, 0, 0))(params, keys, batch)
    return -values.mean(), divergences.mean()


@partial(sagax.jit, static_argnames="steps")
def train(params: Params, key: Array, data: Array, steps: int) -> tuple[Params, Array]:
    def step(params: Params, key: Array) -> tuple[Params, Array]:
        (value, _), grads = sagax.value_and_grad(loss, has_aux=True)(params, key, data)
        return sagax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value

    return lax.scan(step, params, random.split(key, steps))


data = random.bernoulli(random.key(1), 0.3, (8, 16)).astype(snp.float32)
params, losses = train(init(random.key(0), 16, 8, 2), random.key(2), data, steps=3)
print(f"{float(losses[0]):.2f} -> {losses[-1]:.2f}", params.decoder[0].w.shape)
