"""Compute convolutions with groups from slices, where XLA's CPU code is slow.

XLA has no kernels for groups of features, nor for groups of examples, which derivatives by the kernel have. It
computes each element of the result by itself. Instead:

- Depthwise convolutions, with one input feature in each group, are sums of slices times weights, one for
  each element of the kernel. The sum is one loop along the last dimension.
- Their derivatives by the kernel are sums of products with slices, one for each element of the kernel.
- Convolutions with few groups are one convolution for each group.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims
from sagax._src.core.value import aval_of
from sagax._src.primitives.arithmetic import add, mul
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.reductions import reduce_sum_p
from sagax._src.primitives.shaping import concatenate
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax._src.primitives.slicing import slice as sliced
from sagax._src.primitives.structural import broadcast_in_dim, reshape, transpose
from sagax._src.primitives.window_geometry import Window

_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def by_slices(conv: Any, x: Any, y: Any, out: Any) -> Callable[[Any, Any], Any] | None:
    """Return a function that computes the convolution of arrays of these types; None: leave it to XLA."""
    features, batches = conv.feature_group_count, conv.batch_group_count
    if not all(dims.is_static(a.shape) and 0 not in a.shape for a in (x, y, out)):
        return None
    if features == batches == 1 or {x.dtype, y.dtype, out.dtype} not in [{d} for d in _DTYPES]:
        return None
    numbers = conv.dimension_numbers
    if features > 1:
        in_each = y.shape[numbers.rhs_spec[1]]
        terms = math.prod(conv.window(y.shape).sizes)
        if in_each == 1 and terms <= tuning.DEPTHWISE_MAX_KERNEL:
            return lambda x, y: _depthwise(conv, x, y)
    else:
        in_each = x.shape[numbers.lhs_spec[0]] // batches
        terms = math.prod([out.shape[d] for d in numbers.out_spec[2:]])
        if in_each == 1 and terms <= tuning.DEPTHWISE_MAX_KERNEL:
            return lambda x, y: _depthwise_kernel(conv, x, y)
    if (
        features <= tuning.CONVOLUTION_MAX_SPLIT_GROUPS
        and batches <= tuning.CONVOLUTION_MAX_SPLIT_BATCH_GROUPS
    ):
        return lambda x, y: _split(conv, x, y)
    return None


def _depthwise(conv: Any, x: Any, y: Any) -> Any:
    """Sum slices of the input, each times the weights of one element of the kernel."""
    numbers = conv.dimension_numbers
    f = numbers.out_spec[1]
    window = conv.window(aval_of(y).shape)
    x = _in_layout(x, numbers.lhs_spec, numbers.out_spec)
    y = transpose(y, tuple(numbers.rhs_spec))
    groups, features = conv.feature_group_count, aval_of(y).shape[0]
    total: Any = None
    for element, part in _elements(x, window, numbers.out_spec):
        weights = sliced(y, (0, 0, *element), (features, 1, *[k + 1 for k in element]))
        weights = reshape(weights, (groups, features // groups))
        shape = aval_of(part).shape
        spread = (*shape[:f], groups, features // groups, *shape[f + 1 :])
        others = tuple([d + (d > f) for d in range(len(shape))])
        part = broadcast_in_dim(part, spread, others)
        term = mul(part, broadcast_in_dim(weights, spread, (f, f + 1)))
        total = term if total is None else add(total, term)
    shape = aval_of(total).shape
    return reshape(total, (*shape[:f], features, *shape[f + 2 :]))


def _depthwise_kernel(conv: Any, x: Any, y: Any) -> Any:
    """Sum products of the second operand with slices of the first, one for each position of the result."""
    numbers = conv.dimension_numbers
    o, _, *spatial = numbers.rhs_spec
    x = _in_layout(x, numbers.lhs_spec, numbers.rhs_spec)  # a group is one example
    shape = aval_of(y).shape
    groups, features = conv.batch_group_count, shape[o]
    spread = (*shape[:o], groups, features // groups, *shape[o + 1 :])
    others = tuple([d + (d > o) for d in range(len(shape))])
    y = reshape(y, spread)
    summed = tuple([d for d in range(len(spread)) if d not in (o, o + 1)])
    # the positions of the result and the elements of the window change places
    window = conv.window(shape)
    counts = window.result(tuple([aval_of(x).shape[d] for d in spatial]))
    turned = Window(
        counts, window.window_dilation, window.padding, window.base_dilation, window.strides
    )
    sums = []
    for _, part in _elements(x, turned, numbers.rhs_spec, window.sizes):
        product = mul(broadcast_in_dim(part, spread, others), y)
        sums.append(reshape(reduce_sum_p.bind(product, axes=summed), (1, features)))
    found = reshape(transpose(concatenate(sums, 0), (1, 0)), (1, features, *counts))
    return transpose(found, _inverse(numbers.out_spec))


def _split(conv: Any, x: Any, y: Any) -> Any:
    """Convolve each group by itself, and join the results along the features."""
    numbers = conv.dimension_numbers
    groups = conv.feature_group_count * conv.batch_group_count
    of_x = numbers.lhs_spec[1 if conv.feature_group_count > 1 else 0]
    single = replace(conv, feature_group_count=1, batch_group_count=1)
    parts = [_parts(x, of_x, groups), _parts(y, numbers.rhs_spec[0], groups)]
    return concatenate([single.bind(*pair) for pair in zip(*parts)], numbers.out_spec[1])


def _parts(x: Any, d: int, count: int) -> list:
    size = aval_of(x).shape[d] // count
    return [slice_in_dim(x, i * size, (i + 1) * size, 1, d) for i in range(count)]


def _in_layout(x: Any, spec: Sequence[int], wanted: Sequence[int]) -> Any:
    """Permute dimensions whose roles stand in `spec` as those of `wanted`."""
    return transpose(x, tuple([spec[role] for role in _inverse(wanted)]))


def _inverse(permutation: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(permutation)), key=lambda i: permutation[i]))


def _elements(
    x: Any, window: Window, spec: Sequence[int], counts: Sequence[int] | None = None
) -> Iterator[tuple[tuple, Any]]:
    """Yield for each element of a window its index and the array of that element in all windows.

    `counts` are the numbers of windows, where padding behind the array allows more.
    """
    ndim, zero = len(spec), np.zeros((), aval_of(x).dtype)[()]

    def of_all(entries: Sequence, other: Any) -> list:
        found = [other] * ndim
        for d, entry in zip(spec[2:], entries, strict=True):
            found[d] = entry
        return found

    config = zip(of_all(window.padding, (0, 0)), of_all(window.base_dilation, 1), strict=True)
    padding = tuple([(low, high, base - 1) for (low, high), base in config])
    if any(p != (0, 0, 0) for p in padding):
        x = pad(x, zero, padding)
    # written once: padding, as a condition for each slice, would keep the loop from SIMD vectors, and XLA would
    # compute what precedes for each slice
    x = optimization_barrier(x)
    shape = aval_of(x).shape
    if counts is None:
        counts = window.without_padding().result(tuple([shape[d] for d in spec[2:]]))
    strides = of_all(window.strides, 1)
    number = [n if d in spec[:2] else 0 for d, n in enumerate(shape)]
    for d, count in zip(spec[2:], counts, strict=True):
        number[d] = count
    for element in itertools.product(*map(range, window.sizes)):
        steps = [k * d for k, d in zip(element, window.window_dilation, strict=True)]
        starts = of_all(steps, 0)
        limits = [s + (n - 1) * step + 1 for s, n, step in zip(starts, number, strides)]
        yield element, sliced(x, starts, limits, strides)
