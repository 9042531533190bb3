"""Describe sample operands of primitives, to test their laws."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from sagax._src.frozen_class import record


@record
class Spec:
    """An operand with random elements from [low, high); `unique` ones differ pairwise."""

    shape: tuple
    dtype: Any
    low: float = -2.0
    high: float = 2.0
    unique: bool = False


class Sample:
    """Operands (a `Spec`, or an actual array) and parameters of one application.

    `derivatives=False` skips the numerical check of derivatives, for functions with jumps or with
    ill-conditioned differences; `tolerance` widens the comparison with the reference.
    """

    __slots__ = ("derivatives", "operands", "params", "tolerance")

    def __init__(
        self,
        *operands: Any,
        derivatives: bool = True,
        tolerance: float | None = None,
        **params: Any,
    ) -> None:
        self.operands = operands
        self.params = params
        self.derivatives = derivatives
        self.tolerance = tolerance

    def __repr__(self) -> str:
        parts = [f"{o.dtype}{list(o.shape)}" for o in self.operands] + [
            f"{k}={v}" for k, v in self.params.items()
        ]
        return f"Sample({', '.join(parts)})"


def _maker(dtype: Any, low: float, high: float) -> Any:
    dtype = np.dtype(dtype)

    def make(*shape: int, low: float = low, high: float = high, unique: bool = False) -> Spec:
        return Spec(shape, dtype, low, high, unique)

    return make


f32 = _maker(np.float32, -2, 2)
f64 = _maker(np.float64, -2, 2)
f16 = _maker(np.float16, -2, 2)
bf16 = _maker(ml_dtypes.bfloat16, -2, 2)
c64 = _maker(np.complex64, -2, 2)
i32 = _maker(np.int32, -5, 6)
i8 = _maker(np.int8, -5, 6)
u32 = _maker(np.uint32, 0, 9)
u8 = _maker(np.uint8, 0, 9)
boolean = _maker(bool, 0, 2)

__all__ = [
    "Sample",
    "Spec",
    "bf16",
    "boolean",
    "c64",
    "f16",
    "f32",
    "f64",
    "i8",
    "i32",
    "u8",
    "u32",
]
