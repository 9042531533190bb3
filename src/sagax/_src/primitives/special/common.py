"""Share SciPy references and samples among special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src.core.samples import Sample, bf16, f16, f32
from sagax._src.primitives.transcendental import widened


def scipy_reference(name: str) -> Callable[..., Any]:
    """Return the function `name` of scipy.special, in float32 for narrower floats."""

    def reference(*xs: np.ndarray) -> Any:
        import scipy.special  # imported here, since it loads slowly and only references need it

        return getattr(scipy.special, name)(*xs)

    return widened(reference)


def unary_samples(low: float, high: float) -> list[Sample]:
    """Return sample operands between `low` and `high` for a unary function."""
    return [
        Sample(f32(2, 3, low=low, high=high)),
        Sample(f32(low=low, high=high)),
        Sample(bf16(3, low=low, high=high)),
        Sample(f16(3, low=low, high=high)),
    ]
