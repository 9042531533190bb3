"""Fit a neural ODE to a spiral."""

from dataclasses import dataclass

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import Array
from sagax.experimental.ode import odeint

Layer = dict[str, Array]


@dataclass(frozen=True)
class Options:
    width: int = 8
    rate: float = 0.05
    steps: int = 2


def init(key: Array, sizes: list[int]) -> list[Layer]:
    keys = sagax.random.split(key, len(sizes) - 1)
    return [
        {"w": 0.1 * sagax.random.normal(k, (m, n)), "b": snp.zeros((n,))}
        for k, m, n in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def field(y: Array, t: Array, layers: list[Layer]) -> Array:
    h = y**3
    for layer in layers[:-1]:
        h = snp.tanh(snp.dot(h, layer["w"]) + layer["b"])
    return h @ layers[-1]["w"] + layers[-1]["b"]


def heun(layers: list[Layer], y: Array, times: Array) -> Array:
    def step(y: Array, interval: tuple[Array, Array]) -> tuple[Array, Array]:
        t0, t1 = interval
        dt = t1 - t0
        k1 = field(y, t0, layers)
        k2 = field(y + dt * k1, t1, layers)
        y = y + 0.5 * dt * (k1 + k2)
        return y, y

    _, path = sagax.lax.scan(step, y, (times[:-1], times[1:]))
    return snp.concatenate([y[None], path], axis=0)


@sagax.jit
def loss(layers: list[Layer], y0: Array, times: Array, target: Array) -> Array:
    error = heun(layers, y0, times) - target
    return snp.mean(snp.sum(error**2, axis=-1))


options = Options()
times = snp.linspace(0.0, 2.0, 9)
target = snp.stack([snp.cos(times), snp.sin(times)], axis=1)
layers = init(sagax.random.key(0), [2, options.width, 2])
gradient = sagax.jit(sagax.value_and_grad(loss))
history: list[float] = []
for _ in range(options.steps):
    value, grads = gradient(layers, target[0], times, target)
    layers = sagax.tree.map(lambda p, g: p - options.rate * g, layers, grads)
    history.append(float(value))
path = odeint(field, target[0], times, layers, rtol=1e-4)
error: float = float(np.abs(np.asarray(path - target)).max())
print(history, round(error, 1), path.shape)
