"""Random programs on arrays of symbolic size, to be exported and compared with NumPy.

A case is made of a seed: specifications of one or two arrays, a program as a list of steps, and sizes for the
variables. The steps work on `n` (NumPy or sagax.numpy) and lists of arrays; what cannot be said in both is not here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

SPECIFICATIONS = (
    ("b",), ("b, 3",), ("2*b, 3",), ("b + 1, c",), ("b, c",), ("b, 2", "b, 2"), ("b, 3", "c, 3"), ("b", "c"), ("b, b",), ("b, 2, c",),
    ("3*b", "3*b"), ("b + c", "b"), ("max(b, 2), 2",), ("b, 4",), ("floordiv(b, 2) + 1, 2",),
)  # fmt: skip
CONSTRAINTS = ((), (), (), ("b >= 2",), ("b >= c",), ("b >= 3", "c <= 5"))

Step = Callable[[Any, Any, Any], Any]  # (n, x, other) -> x


def _axis(x: Any, k: int) -> int:
    return k % x.ndim if x.ndim else 0


def _has_axes(f: Step) -> Step:
    """The step for arrays; scalars stay as they are."""
    return lambda n, x, y: f(n, x, y) if x.ndim else x


def _branch_on_equality(n: Any, x: Any, y: Any) -> Any:
    return x * 2 if x.shape[0] == 2 else x + 1


def _branch_on_order(n: Any, x: Any, y: Any) -> Any:
    return x * 2 if x.shape[0] >= 2 else x + 1


def _pairs(n: Any, x: Any, y: Any) -> Any:
    return n.reshape(x, (x.shape[0] // 2, 2, *x.shape[1:]))


def _joined(n: Any, x: Any, y: Any) -> Any:
    return n.concatenate([x, y]) if x.ndim == y.ndim and x.shape[1:] == y.shape[1:] else x


def _added(n: Any, x: Any, y: Any) -> Any:
    return x + y if x.shape == y.shape else x - n.sum(y)


STEPS: dict[str, Step] = {
    "sin": lambda n, x, y: n.sin(x),
    "square": lambda n, x, y: n.square(x) * 0.5,
    "abs": lambda n, x, y: n.abs(x) + 0.5,
    "sum all": lambda n, x, y: n.sum(x),
    "mean": _has_axes(lambda n, x, y: n.mean(x, axis=0)),
    "max": _has_axes(lambda n, x, y: n.max(x, axis=0)),
    "sum last": _has_axes(lambda n, x, y: n.sum(x, axis=-1, keepdims=True)),
    "argmax": _has_axes(lambda n, x, y: n.argmax(x, axis=0) * 1.0),
    "var": _has_axes(lambda n, x, y: n.var(x, axis=0)),
    "ravel": lambda n, x, y: n.ravel(x),
    "transpose": lambda n, x, y: n.transpose(x),
    "rows": _has_axes(lambda n, x, y: n.reshape(x, (x.shape[0], -1))),
    "pairs of any": lambda n, x, y: n.reshape(x, (-1, 2)),
    "pairs": _has_axes(_pairs),
    "expand": lambda n, x, y: n.expand_dims(x, 0),
    "tail": _has_axes(lambda n, x, y: x[1:]),
    "head": _has_axes(lambda n, x, y: x[:-1]),
    "two": _has_axes(lambda n, x, y: x[:2]),
    "last": _has_axes(lambda n, x, y: x[-1]),
    "second": _has_axes(lambda n, x, y: x[1]),
    "every other": _has_axes(lambda n, x, y: x[::2]),
    "reversed": _has_axes(lambda n, x, y: x[::-1]),
    "differences": _has_axes(lambda n, x, y: x[1:] - x[:-1]),
    "doubled": _has_axes(lambda n, x, y: n.concatenate([x, x])),
    "joined": _has_axes(_joined),
    "added": _added,
    "stacked": lambda n, x, y: n.stack([x, x + 1]),
    "positions": _has_axes(lambda n, x, y: x + n.reshape(n.arange(x.shape[0]), (-1,) + (1,) * (x.ndim - 1)) * 0.1),
    "ones": _has_axes(lambda n, x, y: n.ones(x.shape[0] + 1) * n.sum(x)),
    "padded": _has_axes(lambda n, x, y: n.pad(x, 1)),
    "padded by edge": _has_axes(lambda n, x, y: n.pad(x, 2, mode="edge")),
    "reflected": _has_axes(lambda n, x, y: n.pad(x, 1, mode="reflect")),
    "cumsum": _has_axes(lambda n, x, y: n.cumsum(x, axis=0)),
    "sorted": _has_axes(lambda n, x, y: n.sort(x, axis=0)),
    "rolled": _has_axes(lambda n, x, y: n.roll(x, 1, axis=0)),
    "tiled": _has_axes(lambda n, x, y: n.tile(x, (2,) + (1,) * (x.ndim - 1))),
    "repeated": _has_axes(lambda n, x, y: n.repeat(x, 2, axis=0)),
    "divided by size": _has_axes(lambda n, x, y: x / x.shape[0]),
    "size and remainder": _has_axes(lambda n, x, y: x * (x.shape[0] % 3) + x.shape[0] // 2),
    "if equal": _has_axes(_branch_on_equality),
    "if larger": _has_axes(_branch_on_order),
    "gram": _has_axes(lambda n, x, y: n.tensordot(x, x, ((0,), (0,)))),
    "outer": _has_axes(lambda n, x, y: n.ravel(x)[:, None] * n.ravel(y)[None, :]),
    "where": lambda n, x, y: n.where(x > 0, x, 0.1 * x),
    "clipped": lambda n, x, y: n.clip(x, -0.5, 0.5),
    "taken": _has_axes(lambda n, x, y: n.take(x, np.array([0, 0]), axis=0)),
    "split": _has_axes(lambda n, x, y: n.split(x, 2, axis=0)[1]),
    "broadcast": lambda n, x, y: n.broadcast_to(x, (2, *x.shape)),
    "median": lambda n, x, y: n.median(x),
    "fft": _has_axes(lambda n, x, y: n.abs(n.fft.fft(x, axis=0))),
    "rfft": _has_axes(lambda n, x, y: n.abs(n.fft.rfft(x, axis=-1))),
    "convolved": lambda n, x, y: n.convolve(n.ravel(x), np.array([1.0, 2.0, 1.0], np.float32)),
    "convolved with other": lambda n, x, y: n.convolve(n.ravel(x), n.ravel(y)),
    "faded": _has_axes(lambda n, x, y: x * n.reshape(n.hanning(x.shape[0] + 2)[1:-1], (-1,) + (1,) * (x.ndim - 1))),
    "cumprod": _has_axes(lambda n, x, y: n.cumprod(n.tanh(x), axis=0)),
    "argmin": _has_axes(lambda n, x, y: n.argmin(x, axis=-1) * 1.0),
    "any": _has_axes(lambda n, x, y: n.any(x > 0.3, axis=0) * 1.0),
    "count": lambda n, x, y: n.count_nonzero(x > 0) * 1.0,
    "range": _has_axes(lambda n, x, y: n.ptp(x, axis=0)),
    "std": _has_axes(lambda n, x, y: n.std(x, axis=-1)),
    "first half": _has_axes(lambda n, x, y: x[: x.shape[0] // 2]),
    "second half": _has_axes(lambda n, x, y: x[x.shape[0] // 2 :]),
    "middle": _has_axes(lambda n, x, y: x[x.shape[0] // 2]),
    "every third": _has_axes(lambda n, x, y: x[::3]),
    "back by two": _has_axes(lambda n, x, y: x[::-2]),
    "triangle": _has_axes(lambda n, x, y: n.tril(n.ravel(x)[:, None] + n.ravel(x)[None, :])),
    "diagonal": _has_axes(lambda n, x, y: n.diag(n.ravel(x), 1)),
    "swapped": _has_axes(lambda n, x, y: n.swapaxes(x, 0, -1)),
    "if even": _has_axes(lambda n, x, y: x * 2 if x.shape[0] % 2 == 0 else x + 1),
    "if as long": lambda n, x, y: x * 2 if x.shape[:1] == y.shape[:1] else x + 1,
    "wrapped": _has_axes(lambda n, x, y: n.pad(x, 2, mode="wrap")),
    "mirrored": _has_axes(lambda n, x, y: n.pad(x, 3, mode="symmetric")),
    "percentile": lambda n, x, y: n.percentile(x, 30.0) + n.zeros(2),
    "searched": _has_axes(lambda n, x, y: n.searchsorted(n.sort(n.ravel(x)), n.ravel(y)) * 1.0),
    "interpolated": _has_axes(lambda n, x, y: n.interp(n.ravel(x), n.arange(3) * 0.5, n.arange(3) * 1.0)),
    "spread": _has_axes(lambda n, x, y: n.linspace(0.0, 1.0, x.shape[0] + 1) * n.sum(x)),
    "kron": lambda n, x, y: n.kron(n.ravel(x), np.array([1.0, -1.0], np.float32)),
    "minimum of both": lambda n, x, y: n.minimum(n.max(x), n.max(y)) * n.ones(3),
}  # fmt: skip


class Case(NamedTuple):
    specs: tuple[str, ...]
    constraints: tuple[str, ...]
    steps: tuple[str, ...]
    sizes: dict[str, int]

    def program(self, n: Any, *arrays: Any) -> Any:
        x, y = arrays[0], arrays[-1]
        for name in self.steps:
            x = STEPS[name](n, x, y)
        return x


def case_of(seed: int) -> Case:
    """The case of a seed."""
    draw = random.Random(seed)
    return Case(
        draw.choice(SPECIFICATIONS),
        draw.choice(CONSTRAINTS),
        tuple(draw.choices(list(STEPS), k=draw.randint(1, 4))),
        {"b": draw.choice((1, 2, 3, 4, 6)), "c": draw.choice((1, 2, 3, 5))},
    )
