"""Define operations that have forms of their own on CPUs: rows beside JAX, and beside NumPy and torch.

A function takes the library under measurement and arrays. Those for NumPy and torch compute the same; they are None
where the peer has no such function.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from benchmarks.rows import Library, Loop, Row

MANY = 1_000_000
NHWC = ("NHWC", "HWIO", "NHWC")


@dataclass(frozen=True)
class Operation:
    """A function of arrays and its operands; `bound` is the most that time(sagax)/time(jax) may be."""

    name: str
    title: str
    bound: float
    function: Callable[..., Any]
    operands: Callable[[numpy.random.Generator], list[Any]]
    in_numpy: Callable[..., Any] | None = None
    in_torch: Callable[..., Any] | None = None  # of the module and tensors

    def values(self) -> list[Any]:
        """Return the operands, as NumPy arrays, the same in each process."""
        return self.operands(numpy.random.default_rng(0))

    def row(self) -> Row:
        return Row(f"op-{self.name}", self.title, self.bound, "cpu", self._case, one_core=True)

    def _case(self, library: Library) -> Loop:
        operands = [library.np.asarray(x) for x in self.values()]
        compiled = library.lib.jit(functools.partial(self.function, library))
        return Loop(lambda: compiled(*operands))


def normal(*shapes: tuple[int, ...]) -> Callable[[numpy.random.Generator], list[Any]]:
    return lambda rng: [rng.standard_normal(s).astype("float32") for s in shapes]


def integers(dtype: str, *shapes: tuple[int, ...]) -> Callable[[numpy.random.Generator], list[Any]]:
    return lambda rng: [rng.integers(-100, 100, s).astype(dtype) for s in shapes]


def _positive_definite(n: int) -> Callable[[numpy.random.Generator], list[Any]]:
    def operands(rng: numpy.random.Generator) -> list[Any]:
        a = rng.standard_normal((1000, n, n)).astype("float32")
        return [a @ a.transpose(0, 2, 1) + n * numpy.eye(n, dtype="float32")]

    return operands


# convolutions and windows, channels last; torch's tensors have the same memory order ---------------------


def _convolution(groups: int, stride: int = 1) -> Callable[..., Any]:
    def function(library: Library, x: Any, w: Any) -> Any:
        return library.lib.lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", dimension_numbers=NHWC, feature_group_count=groups
        )

    return function


def _torch_convolution(groups: int) -> Callable[..., Any]:
    def function(torch: Any, x: Any, w: Any) -> Any:
        x, w = x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1)
        return torch.nn.functional.conv2d(x, w, padding=w.shape[-1] // 2, groups=groups)

    return function


def _gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient, by all operands, of the sum of squares."""

    def gradient(library: Library, *xs: Any) -> Any:
        def loss(*xs: Any) -> Any:
            return library.np.sum(function(library, *xs) ** 2)

        return library.lib.grad(loss, tuple(range(len(xs))))(*xs)

    return gradient


def _torch_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    def gradient(torch: Any, *xs: Any) -> Any:
        xs = tuple([x.detach().requires_grad_() for x in xs])
        return torch.autograd.grad((function(torch, *xs) ** 2).sum(), xs)

    return gradient


def _pool(reduction: str, size: int, stride: int) -> Callable[..., Any]:
    def function(library: Library, x: Any) -> Any:
        lax = library.lib.lax
        init, step = (0.0, lax.add) if reduction == "add" else (-numpy.inf, lax.max)
        return lax.reduce_window(
            x, init, step, (1, size, size, 1), (1, stride, stride, 1), "SAME"
        )  # fmt: skip

    return function


def _torch_pool(reduction: str, size: int, stride: int) -> Callable[..., Any]:
    def function(torch: Any, x: Any) -> Any:
        pool = (
            torch.nn.functional.avg_pool2d if reduction == "add" else torch.nn.functional.max_pool2d
        )
        return pool(x.permute(0, 3, 1, 2), size, stride, (size - 1) // 2)

    return function


def _attention(library: Library, q: Any, k: Any, v: Any) -> Any:
    scores = library.np.einsum("qhd,khd->hqk", q, k) / math.sqrt(q.shape[-1])
    return library.np.einsum("hqk,khd->qhd", library.lib.nn.softmax(scores, -1), v)


def _torch_attention(torch: Any, q: Any, k: Any, v: Any) -> Any:
    q, k, v = [x.permute(1, 0, 2) for x in (q, k, v)]
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def _draw(name: str, *arguments: Any) -> Callable[..., Any]:
    def function(library: Library, seed: Any, *arrays: Any) -> Any:
        random = library.lib.random
        return getattr(random, name)(random.key(seed), *arrays, *arguments)

    return function


def _seed(*shapes: tuple[int, ...]) -> Callable[[numpy.random.Generator], list[Any]]:
    return lambda rng: [numpy.int32(0), *normal(*shapes)(rng)]


_IMAGES, _SQUARE = (8, 32, 32, 64), (1024, 1024)

OPERATIONS = (
    Operation("sort", "sort of 1M float32", 0.15, lambda m, x: m.np.sort(x), normal((MANY,)),
              numpy.sort, lambda torch, x: torch.sort(x)[0]),
    Operation("sort-rows", "sort of 1000 x 1000 by rows", 0.15, lambda m, x: m.np.sort(x, -1), normal((1000, 1000)),
              numpy.sort, lambda torch, x: torch.sort(x, -1)[0]),
    Operation("argsort", "argsort of 1M float32", 0.15, lambda m, x: m.np.argsort(x), normal((MANY,)),
              functools.partial(numpy.argsort, kind="stable"), lambda torch, x: torch.argsort(x, stable=True)),
    Operation("median", "median of 1M float32", 0.12, lambda m, x: m.np.median(x), normal((MANY,)),
              numpy.median, lambda torch, x: torch.median(x)),
    Operation("narrow-vector", "x.T @ v, 1024 x 1024", 0.1, lambda m, x, v: x.T @ v, normal(_SQUARE, (1024,)),
              lambda x, v: x.T @ v, lambda torch, x, v: x.T @ v),
    Operation("narrow-columns", "x.T @ m, ten columns", 0.35, lambda m, x, y: x.T @ y, normal(_SQUARE, (1024, 10)),
              lambda x, y: x.T @ y, lambda torch, x, y: x.T @ y),
    Operation("bytes", "product of int8, 256 x 256", 1.1,
              lambda m, x, y: m.lib.lax.dot(x, y, preferred_element_type=numpy.int32),
              integers("int8", (256, 256), (256, 256))),
    Operation("depthwise", "depthwise convolution 3x3, 8x32x32x64", 0.1, _convolution(64),
              normal(_IMAGES, (3, 3, 1, 64)), None, _torch_convolution(64)),
    Operation("depthwise-grad", "its gradient", 0.15, _gradient(_convolution(64)), normal(_IMAGES, (3, 3, 1, 64)),
              None, _torch_gradient(_torch_convolution(64))),
    Operation("grouped", "convolution 3x3 in 4 groups, 8x32x32x64", 0.6, _convolution(4),
              normal(_IMAGES, (3, 3, 16, 64)), None, _torch_convolution(4)),
    Operation("grouped-grad", "its gradient", 0.1, _gradient(_convolution(4)), normal(_IMAGES, (3, 3, 16, 64)),
              None, _torch_gradient(_torch_convolution(4))),
    Operation("convolution", "convolution 3x3, 8x32x32x64", 1.1, _convolution(1), normal(_IMAGES, (3, 3, 64, 64)),
              None, _torch_convolution(1)),
    Operation("pool-mean", "sums of windows 3x3, 8x32x32x64", 0.2, _pool("add", 3, 1), normal(_IMAGES),
              None, _torch_pool("add", 3, 1)),
    Operation("pool-max", "maxima of windows 3x3, stride 2", 0.6, _pool("max", 3, 2), normal(_IMAGES),
              None, _torch_pool("max", 3, 2)),
    Operation("pool-max-grad", "their gradient", 0.3, _gradient(_pool("max", 3, 2)), normal(_IMAGES),
              None, _torch_gradient(_torch_pool("max", 3, 2))),
    Operation("attention", "attention, 512 x 8 x 64", 1.3, _attention, normal(*[(512, 8, 64)] * 3),
              None, _torch_attention),
    Operation("softmax", "softmax of 1000 x 1000", 1.4, lambda m, x: m.lib.nn.softmax(x, -1), normal((1000, 1000)),
              None, lambda torch, x: torch.softmax(x, -1)),
    Operation("gamma", "100,000 gamma variates", 0.35, _draw("gamma", 2.5, (100_000,)), _seed()),
    Operation("dirichlet", "10,000 Dirichlet variates of 10", 0.45,
              _draw("dirichlet", numpy.ones(10, "float32"), (10_000,)), _seed()),
    Operation("categorical", "draws from 10,000 x 100", 0.35, _draw("categorical"), _seed((10_000, 100))),
    Operation("sin", "sine of 1M float32", 1.1, lambda m, x: m.np.sin(x), normal((MANY,)), numpy.sin,
              lambda torch, x: torch.sin(x)),
    Operation("exp", "exponential of 1M float32", 1.1, lambda m, x: m.np.exp(x), normal((MANY,)), numpy.exp,
              lambda torch, x: torch.exp(x)),
    Operation("argmax", "argmax along rows, 1000 x 1000", 1.1, lambda m, x: m.np.argmax(x, -1), normal((1000, 1000)),
              lambda x: numpy.argmax(x, -1), lambda torch, x: torch.argmax(x, -1)),
    Operation("any", "any along columns, 1000 x 1000", 1.1, lambda m, x: m.np.any(x > 3, 0), normal((1000, 1000)),
              lambda x: numpy.any(x > 3, 0), lambda torch, x: torch.any(x > 3, 0)),
    Operation("max", "greatest integers of columns, 1000 x 1000", 1.1, lambda m, x: m.np.max(x, 0), integers("int32", (1000, 1000)),
              lambda x: numpy.max(x, 0), lambda torch, x: torch.amax(x, 0)),
    Operation("matmul", "product, 1024 x 1024", 1.1, lambda m, x, y: x @ y, normal(_SQUARE, _SQUARE),
              lambda x, y: x @ y, lambda torch, x, y: x @ y),
    Operation("cholesky", "1000 Cholesky factors, 8 x 8", 1.1, lambda m, x: m.np.linalg.cholesky(x),
              _positive_definite(8), numpy.linalg.cholesky, lambda torch, x: torch.linalg.cholesky(x)),
    Operation("inverse", "1000 inverses, 8 x 8", 1.1, lambda m, x: m.np.linalg.inv(x), _positive_definite(8),
              numpy.linalg.inv, lambda torch, x: torch.linalg.inv(x)),
    Operation("cumsum", "cumulative sums of 1000 x 1000 along the first axis", 1.1, lambda m, x: m.np.cumsum(x, 0),
              normal((1000, 1000)), lambda x: numpy.cumsum(x, 0), lambda torch, x: torch.cumsum(x, 0)),
    Operation("add", "sum of two arrays of 16M", 1.1, lambda m, x, y: x + y, normal((16_000_000,), (16_000_000,)),
              numpy.add, lambda torch, x, y: x + y),
)  # fmt: skip

ROWS = tuple(operation.row() for operation in OPERATIONS)
