"""Define models that both libraries run.

A function takes a `Library` (the module and its NumPy names) and sizes, and returns a `Model`: a
function of arrays that gives a number or arrays, and its operands. Loops are Python's, as people
write them: what a library does with the long straight programs that come of that is measured here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy


@dataclass(frozen=True)
class Model:
    """A function and what to call it with; `loss(*operands)` is a number where it has a gradient."""

    function: Callable[..., Any]
    operands: tuple[Any, ...]

    def gradient(self, library: Any) -> Model:
        """The value and the gradient by the first operand."""
        return Model(library.lib.value_and_grad(self.function), self.operands)


def _numbers(library: Any, rng: numpy.random.Generator, *shape: int, scale: float = 1.0) -> Any:
    return library.np.asarray((rng.standard_normal(shape) * scale).astype("float32"))


# -- transformers ---------------------------------------------------------------------------------


def gpt(
    library: Any,
    layers: int = 12,
    width: int = 64,
    batch: int = 2,
    length: int = 64,
    heads: int = 4,
    vocabulary: int = 128,
) -> Model:
    """The cross entropy of a decoder over (batch, length) tokens, as GPT-2 is built.

    Blocks are normalised first; scale and shift in each normalisation, a bias in each layer, the
    activation by tanh, learned positions, and the embedding of tokens used again for the logits.
    """
    lib, np = library.lib, library.np
    rng = numpy.random.default_rng(0)
    draw = functools.partial(_numbers, library, rng)
    size = width // heads

    def block() -> dict[str, Any]:
        return {
            "norm1": {"scale": np.ones(width), "shift": np.zeros(width)},
            "norm2": {"scale": np.ones(width), "shift": np.zeros(width)},
            "qkv": draw(width, 3 * width, scale=width**-0.5),
            "qkv_bias": np.zeros(3 * width),
            "out": draw(width, width, scale=width**-0.5),
            "out_bias": np.zeros(width),
            "up": draw(width, 4 * width, scale=width**-0.5),
            "up_bias": np.zeros(4 * width),
            "down": draw(4 * width, width, scale=0.5 * width**-0.5),
            "down_bias": np.zeros(width),
        }

    params = {
        "tokens": draw(vocabulary, width, scale=0.02),
        "places": draw(length, width, scale=0.02),
        "norm": {"scale": np.ones(width), "shift": np.zeros(width)},
        "blocks": [block() for _ in range(layers)],
    }

    def normalised(p: dict[str, Any], x: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + 1e-5) * p["scale"] + p["shift"]

    def attention(p: dict[str, Any], x: Any) -> Any:
        b, t, _ = x.shape
        q, k, v = np.split(x @ p["qkv"] + p["qkv_bias"], 3, axis=-1)
        q, k, v = (y.reshape(b, t, heads, size).transpose(0, 2, 1, 3) for y in (q, k, v))
        scores = q @ k.transpose(0, 1, 3, 2) / size**0.5
        scores = np.where(np.tril(np.ones((t, t), bool)), scores, -1e9)
        mixed = lib.nn.softmax(scores, axis=-1) @ v
        return mixed.transpose(0, 2, 1, 3).reshape(b, t, width) @ p["out"] + p["out_bias"]

    def feed_forward(p: dict[str, Any], x: Any) -> Any:
        return lib.nn.gelu(x @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]

    def loss(params: dict[str, Any], tokens: Any) -> Any:
        x = params["tokens"][tokens[:, :-1]] + params["places"]
        for p in params["blocks"]:
            x = x + attention(p, normalised(p["norm1"], x))
            x = x + feed_forward(p, normalised(p["norm2"], x))
        logits = normalised(params["norm"], x) @ params["tokens"].T
        chosen = np.take_along_axis(lib.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)
        return -chosen.mean()

    tokens = np.asarray(rng.integers(0, vocabulary, (batch, length + 1)).astype("int32"))
    return Model(loss, (params, tokens))


# -- stacks of layers -----------------------------------------------------------------------------


def residual_mlp(library: Any, layers: int = 64, width: int = 64, batch: int = 32) -> Model:
    """The mean square after `layers` of x + tanh(x w + b), each with its own w and b."""
    np = library.np
    rng = numpy.random.default_rng(0)
    params = [
        (_numbers(library, rng, width, width, scale=0.1 * width**-0.5), np.zeros(width))
        for _ in range(layers)
    ]
    x = _numbers(library, rng, batch, width)

    def loss(params: list, x: Any) -> Any:
        for w, b in params:
            x = x + np.tanh(x @ w + b)
        return (x**2).mean()

    return Model(loss, (params, x))


def residual_norm(library: Any, layers: int = 64, width: int = 64, batch: int = 32) -> Model:
    """The same with the rows normalised before each layer."""
    np = library.np
    rng = numpy.random.default_rng(0)
    params = [_numbers(library, rng, width, width, scale=width**-0.5) for _ in range(layers)]
    x = _numbers(library, rng, batch, width)

    def loss(params: list, x: Any) -> Any:
        for w in params:
            mean = x.mean(-1, keepdims=True)
            y = (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
            x = x + np.maximum(y @ w, 0.0)
        return (x**2).mean()

    return Model(loss, (params, x))


def _convolution(library: Any, x: Any, w: Any, stride: int = 1) -> Any:
    layout = ("NHWC", "HWIO", "NHWC")
    return library.lib.lax.conv_general_dilated(
        x, w, (stride, stride), "SAME", dimension_numbers=layout
    )


def _batch_normalised(np: Any, x: Any, scale: Any, shift: Any) -> Any:
    mean = x.mean((0, 1, 2))
    variance = ((x - mean) ** 2).mean((0, 1, 2))
    return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift


def cnn(library: Any, layers: int = 6, channels: int = 16, size: int = 16, batch: int = 4) -> Model:
    """The mean square of residual blocks of batch-normalised 3x3 convolutions."""
    np = library.np
    rng = numpy.random.default_rng(0)
    params = [
        {
            "w": _numbers(library, rng, 3, 3, channels, channels, scale=0.1),
            "scale": np.ones(channels),
            "shift": np.zeros(channels),
        }
        for _ in range(layers)
    ]
    x = _numbers(library, rng, batch, size, size, channels)

    def loss(params: list, x: Any) -> Any:
        for p in params:
            y = _batch_normalised(np, _convolution(library, x, p["w"]), p["scale"], p["shift"])
            x = np.maximum(x + y, 0.0)
        return (x**2).mean()

    return Model(loss, (params, x))


def unet(library: Any, depth: int = 3, channels: int = 8, size: int = 32, batch: int = 2) -> Model:
    """The mean square of an encoder and a decoder with connections between their levels."""
    np = library.np
    rng = numpy.random.default_rng(0)

    def weights(n_in: int, n_out: int) -> Any:
        return _numbers(library, rng, 3, 3, n_in, n_out, scale=(9 * n_in) ** -0.5)

    sizes = [channels * 2**i for i in range(depth + 1)]
    params = {
        "first": weights(1, channels),
        "down": [(weights(a, b), weights(b, b)) for a, b in zip(sizes, sizes[1:])],
        "up": [(weights(a + b, a), weights(a, a)) for a, b in zip(sizes, sizes[1:])][::-1],
    }
    x = _numbers(library, rng, batch, size, size, 1)

    def active(x: Any) -> Any:
        return x * library.lib.nn.sigmoid(x)

    def loss(params: dict, x: Any) -> Any:
        h = _convolution(library, x, params["first"])
        kept = []
        for w, v in params["down"]:
            kept.append(h)
            h = active(_convolution(library, h, w, 2))
            h = h + active(_convolution(library, h, v))
        for (w, v), skip in zip(params["up"], kept[::-1]):
            h = np.repeat(np.repeat(h, 2, axis=1), 2, axis=2)
            h = active(_convolution(library, np.concatenate([h, skip], -1), w))
            h = h + active(_convolution(library, h, v))
        return (h**2).mean()

    return Model(loss, (params, x))


# -- steps in time --------------------------------------------------------------------------------


def rnn(library: Any, steps: int = 200, width: int = 32, batch: int = 8) -> Model:
    """The mean square of the last state of tanh(h w + x[t] u), its steps in a Python loop."""
    np = library.np
    rng = numpy.random.default_rng(0)
    params = (
        _numbers(library, rng, width, width, scale=width**-0.5),
        _numbers(library, rng, width, width, scale=width**-0.5),
    )
    xs = _numbers(library, rng, steps, batch, width)

    def loss(params: tuple, xs: Any) -> Any:
        w, u = params
        h = np.zeros((batch, width))
        for t in range(steps):
            h = np.tanh(h @ w + xs[t] @ u)
        return (h**2).mean()

    return Model(loss, (params, xs))


def steps(library: Any, count: int = 200, width: int = 32) -> Model:
    """The mean square after `count` explicit steps x + 0.01 tanh(w x) of a small system."""
    np = library.np
    rng = numpy.random.default_rng(0)
    w = _numbers(library, rng, width, width, scale=width**-0.5)
    x = _numbers(library, rng, width)

    def loss(w: Any, x: Any) -> Any:
        for _ in range(count):
            x = x + 0.01 * np.tanh(w @ x)
        return (x**2).mean()

    return Model(loss, (w, x))


def lorenz(library: Any, count: int = 100, systems: int = 1000) -> Model:
    """The mean square of Lorenz systems after `count` steps of the classical Runge-Kutta method."""
    np = library.np
    rng = numpy.random.default_rng(0)
    state = _numbers(library, rng, 3, systems)
    rates = np.asarray(numpy.array([10.0, 28.0, 8.0 / 3.0], "float32"))

    def velocity(p: Any, u: Any) -> Any:
        x, y, z = u
        return np.stack([p[0] * (y - x), x * (p[1] - z) - y, x * y - p[2] * z])

    def loss(p: Any, u: Any) -> Any:
        h = 0.01
        for _ in range(count):
            a = velocity(p, u)
            b = velocity(p, u + h / 2 * a)
            c = velocity(p, u + h / 2 * b)
            d = velocity(p, u + h * c)
            u = u + h / 6 * (a + 2 * b + 2 * c + d)
        return (u**2).mean()

    return Model(loss, (rates, state))


def heat(library: Any, count: int = 20, size: int = 256) -> Model:
    """The mean square after `count` explicit steps of the heat equation on a periodic square."""
    np = library.np
    u = _numbers(library, numpy.random.default_rng(0), size, size)
    rate = np.asarray(numpy.float32(0.1))

    def loss(rate: Any, u: Any) -> Any:
        for _ in range(count):
            around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
            u = u + rate * (around - 4.0 * u)
        return (u**2).mean()

    return Model(loss, (rate, u))


def stencil(library: Any, count: int = 4, size: int = 1024) -> Model:
    """`count` rounds of the mean of five neighbours inside of a square, by slices."""
    np = library.np
    u = _numbers(library, numpy.random.default_rng(0), size, size)

    def function(u: Any) -> Any:
        for _ in range(count):
            inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[1:-1, 1:-1]
            u = np.pad(0.2 * inner, 1)
        return u

    return Model(function, (u,))


# -- operations element by element ----------------------------------------------------------------


def sine_chain(library: Any, count: int = 60, size: int = 1_000_000) -> Model:
    """`count` times x = 0.5 x + sin(x), on `size` elements."""
    np = library.np
    x = _numbers(library, numpy.random.default_rng(0), size)

    def function(x: Any) -> Any:
        for _ in range(count):
            x = 0.5 * x + np.sin(x)
        return x

    return Model(function, (x,))


def cheap_chain(library: Any, count: int = 60, size: int = 1_000_000) -> Model:
    """`count` times x = x + 0.01 x (1 - x): no function that costs more than its memory."""
    x = _numbers(library, numpy.random.default_rng(0), size)

    def function(x: Any) -> Any:
        for _ in range(count):
            x = x + 0.01 * x * (1.0 - x)
        return x

    return Model(function, (x,))


def fused(library: Any, size: int = 1_000_000) -> Model:
    """A formula of some twenty operations in which several values are used twice."""
    np = library.np
    rng = numpy.random.default_rng(0)
    x, y = _numbers(library, rng, size), _numbers(library, rng, size)

    def function(x: Any, y: Any) -> Any:
        r = x * x + y * y
        s = x + y
        t = s * r + 0.3 * s - r
        u = np.where(t > 0, t * s, r - t)
        v = u * u + 1.0
        return (u + v) / (v + r) + s, t * v - u

    return Model(function, (x, y))


# -- optimisers -----------------------------------------------------------------------------------


def adam(library: Any, arrays: int = 40, width: int = 128) -> Model:
    """One update of `arrays` parameters of (width, width) by Adam, from given gradients."""
    np = library.np
    rng = numpy.random.default_rng(0)
    draw = [_numbers(library, rng, width, width) for _ in range(2 * arrays)]
    params, grads = draw[:arrays], draw[arrays:]
    means = [np.zeros((width, width)) for _ in params]
    squares = [np.zeros((width, width)) for _ in params]

    def update(params: list, grads: list, means: list, squares: list, step: Any) -> Any:
        step = step + 1
        a, b = 1 - 0.9**step, 1 - 0.999**step
        means = [0.9 * m + 0.1 * g for m, g in zip(means, grads)]
        squares = [0.999 * v + 0.001 * g * g for v, g in zip(squares, grads)]
        params = [
            p - 1e-3 * (m / a) / (np.sqrt(v / b) + 1e-8) for p, m, v in zip(params, means, squares)
        ]
        return params, means, squares, step

    return Model(update, (params, grads, means, squares, np.asarray(numpy.float32(0))))
