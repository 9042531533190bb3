"""What the special functions share: references of SciPy, and samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src.core.samples import Sample, bf16, f16, f32
from sagax._src.primitives.transcendental import widened


def scipy_reference(name: str) -> Callable[..., Any]:
    """The function `name` of scipy.special, in float32 for narrower floats."""

    def reference(*xs: np.ndarray) -> Any:
        import scipy.special  # here, since it loads slowly and only references need it

        return getattr(scipy.special, name)(*xs)

    return widened(reference)


def unary_samples(low: float, high: float) -> list[Sample]:
    """Operands of a function of one number between `low` and `high`."""
    return [
        Sample(f32(2, 3, low=low, high=high)),
        Sample(f32(low=low, high=high)),
        Sample(bf16(3, low=low, high=high)),
        Sample(f16(3, low=low, high=high)),
    ]
