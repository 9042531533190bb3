"""What the distributions share: arguments of one floating point dtype, and what is outside."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import sagax.numpy as snp
import sagax.numpy._base as _base
from sagax._src.core.value import Array
from sagax.scipy.special import log_ndtr


def distribution(body: Callable[..., Array]) -> Any:
    """A function of numbers: its arguments become floating point arrays of their common dtype.

    `.of` is the function itself, to be called with such arrays.
    """
    signature = inspect.signature(body)

    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> Array:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        name = body.__name__
        operands = [_base.as_operand(name, x, i) for i, x in enumerate(bound.args)]
        return body(*[_base.as_array(name, x) for x in _base.promote_inexact(name, *operands)])

    call.of = body  # type: ignore[attr-defined]
    return call


def inside(condition: Any, found: Any) -> Array:
    """A log probability where `condition` holds, minus infinity elsewhere."""
    return snp.where(condition, found, -snp.inf)


def log_difference(a: Any, b: Any) -> Array:
    """log(ndtr(b) - ndtr(a)) for a < b, exact in both tails."""
    # Above 0 the upper tails are the small numbers to be subtracted.
    low, high = snp.where(a > 0, -b, a), snp.where(a > 0, -a, b)
    large, small = log_ndtr(high), log_ndtr(low)
    gap = snp.where(large > small, small - large, -1.0)
    return large + snp.log(-snp.expm1(gap))
