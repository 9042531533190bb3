"""Sample from a banana-shaped density by Hamiltonian Monte Carlo."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import sagax
import sagax.numpy as snp
from sagax import Array, lax, random

LogDensity: TypeAlias = Callable[[Array], Array]


class Chain(NamedTuple):
    position: Array
    accepted: Array


def banana(x: Array) -> Array:
    return -0.5 * x[0] ** 2 - 0.5 * (x[1] - x[0] ** 2) ** 2


def leapfrog(
    density: LogDensity, x: Array, p: Array, size: float, steps: int
) -> tuple[Array, Array]:
    slope = sagax.grad(density)

    def body(_: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        x, p = state
        p = p + 0.5 * size * slope(x)
        x = x + size * p
        return x, p + 0.5 * size * slope(x)

    return lax.fori_loop(0, steps, body, (x, p))


def transition(density: LogDensity, chain: Chain, key: Array) -> tuple[Chain, Array]:
    momentum_key, accept_key = random.split(key)
    p0 = random.normal(momentum_key, chain.position.shape)
    x, p = leapfrog(density, chain.position, p0, size=0.2, steps=5)
    old = density(chain.position) - 0.5 * snp.sum(p0**2)
    new = density(x) - 0.5 * snp.sum(p**2)
    accept = snp.log(random.uniform(accept_key)) < new - old
    position = lax.cond(accept, lambda: x, lambda: chain.position)
    return Chain(position, chain.accepted + accept), position


@partial(sagax.jit, static_argnums=(0, 3))
def sample(density: LogDensity, key: Array, start: Array, n: int) -> tuple[Chain, Array]:
    chain = Chain(start, snp.zeros((), snp.int32))
    return lax.scan(partial(transition, density), chain, random.split(key, n))


def many(key: Array, chains: int, n: int) -> tuple[Array, Array]:
    keys = random.split(key, chains)
    starts = random.normal(random.fold_in(key, 1), (chains, 2))
    final, samples = sagax.vmap(lambda k, s: sample(banana, k, s, n))(keys, starts)
    return samples, final.accepted / n


samples, rate = many(random.key(0), 2, 10)
mean = samples.mean(axis=(0, 1))
spread = snp.cov(samples.reshape(-1, 2), rowvar=False)
print(samples.shape, [round(float(r), 1) for r in rate], mean.tolist(), spread[0, 0] > 0)
