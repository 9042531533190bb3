"""Define programs of random draws."""

from __future__ import annotations

from typing import Any

from benchmarks.models import Model


def evidence(library: Any, samples: int = 40) -> Model:
    """A Monte Carlo estimate of a log density, as in variational inference."""
    np, lib, random = library.np, library.lib, library.lib.random

    def log_density(key: Any, mean: Any, log_std: Any) -> Any:
        x = mean + np.exp(log_std) * random.normal(key, mean.shape)
        scale = 1 + x[1] ** 2
        return -0.5 * (x[0] / scale) ** 2 - np.log(scale)

    def estimate(variational: Any, seed: Any) -> Any:
        keys = random.split(random.key(seed), samples)
        return np.mean(lib.vmap(log_density, in_axes=(0, None, None))(keys, *variational))

    return Model(estimate, ((np.zeros(2), np.zeros(2)), np.asarray(3)))


def bayesian_network(library: Any, samples: int = 10) -> Model:
    """The loss of a network whose weights are drawn for each sample."""
    np, lib, random = library.np, library.lib, library.lib.random
    shapes = [(2, 32), (32, 32), (32, 1)]

    def network(weights: list, x: Any) -> Any:
        for w in weights[:-1]:
            x = np.tanh(x @ w)
        return (x @ weights[-1])[:, 0]

    def loss(weights: list, key: Any, x: Any, y: Any) -> Any:
        def of_sample(key: Any) -> Any:
            keys = random.split(key, len(weights))
            drawn = [
                mean + np.exp(log_std) * random.normal(k, mean.shape)
                for k, (mean, log_std) in zip(keys, weights)
            ]
            spread = sum([(0.5 * (np.exp(2 * s) + m**2) - s).sum() for m, s in weights])
            return spread + (50 * (y - network(drawn, x)) ** 2).sum()

        return np.mean(lib.vmap(of_sample)(random.split(key, samples)))

    weights = [(np.zeros(shape), np.full(shape, -3.0)) for shape in shapes]
    return Model(loss, (weights, random.key(0), np.ones((64, 2)), np.ones(64)))


def dropout(library: Any, batch: int = 32) -> Model:
    """The loss of a network with a dropout mask for each example, under vmap."""
    np, lib, random = library.np, library.lib, library.lib.random

    def of_example(weights: list, key: Any, x: Any) -> Any:
        for w, k in zip(weights[:-1], random.split(key)):
            x = np.maximum(x @ w, 0)
            x = np.where(random.bernoulli(k, 0.9, x.shape), x / 0.9, 0)
        return (x @ weights[-1]).sum()

    def loss(weights: list, key: Any, x: Any) -> Any:
        keys = random.split(key, batch)
        return lib.vmap(of_example, (None, 0, 0))(weights, keys, x).mean()

    weights = [np.full(shape, 0.1) for shape in ((16, 64), (64, 64), (64, 1))]
    return Model(loss, (weights, random.key(1), np.ones((batch, 16))))


def hamiltonian(library: Any, chains: int = 32, steps: int = 20) -> Model:
    """Hamiltonian Monte Carlo: leapfrog steps in a scan over keys, under vmap over chains."""
    np, lib, random = library.np, library.lib, library.lib.random

    def energy(x: Any) -> Any:
        return 0.5 * (x**2).sum() + 0.1 * (x[:-1] * x[1:]).sum()

    def step(x: Any, key: Any) -> Any:
        draw, accept = random.split(key)
        p = random.normal(draw, x.shape)

        def leap(i: Any, state: Any) -> Any:
            x, p = state
            p = p - 0.05 * lib.grad(energy)(x)
            x = x + 0.1 * p
            return x, p - 0.05 * lib.grad(energy)(x)

        new, end = lib.lax.fori_loop(0, 10, leap, (x, p))
        change = energy(x) + 0.5 * (p**2).sum() - energy(new) - 0.5 * (end**2).sum()
        x = np.where(np.log(random.uniform(accept)) < change, new, x)
        return x, x

    def chain(key: Any, x: Any) -> Any:
        return lib.lax.scan(step, x, random.split(key, steps))[1].mean(0)

    return Model(lib.vmap(chain), (random.split(random.key(0), chains), np.zeros((chains, 10))))


def particle_filter(library: Any, particles: int = 256, steps: int = 50) -> Model:
    """Resampling of particles by categorical draws, in a scan."""
    np, lib, random = library.np, library.lib, library.lib.random

    def step(state: Any, seen: Any) -> Any:
        key, x = state
        key, noise, choice = random.split(key, 3)
        x = 0.9 * x + random.normal(noise, x.shape)
        weights = -2 * (seen - x) ** 2
        chosen = random.categorical(choice, weights, shape=(particles,))
        return (key, x[chosen]), np.log(np.mean(np.exp(weights)))

    def likelihood(key: Any, seen: Any) -> Any:
        return lib.lax.scan(step, (key, np.zeros(particles)), seen)[1].sum()

    return Model(likelihood, (random.key(0), np.linspace(-1, 1, steps)))


def keys(library: Any, count: int = 100) -> Model:
    """Keys that are folded and split under vmap, and a few normal draws of each."""
    lib, random = library.lib, library.lib.random

    def draw(made: Any, number: Any) -> Any:
        folded = lib.vmap(random.fold_in, (0, None))(made, number)
        split = lib.vmap(lambda key: random.split(key, 4))(folded)
        return lib.vmap(lib.vmap(lambda key: random.normal(key, (5,))))(split)

    return Model(draw, (random.split(random.key(0), count), library.np.asarray(7)))


def integral(library: Any, points: int = 1000) -> Model:
    """A Monte Carlo integral over points of a square."""
    np, random = library.np, library.lib.random

    def mean(a: Any, key: Any) -> Any:
        x = random.uniform(key, (points, 2), minval=-1, maxval=1)
        return np.mean(np.exp(-a * (x**2).sum(1)) * np.cos(x[:, 0] * a) * np.sin(x[:, 1]))

    return Model(mean, (np.asarray(1.3), random.key(0)))
