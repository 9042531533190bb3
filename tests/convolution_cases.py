"""Convolutions, windows and Fourier transforms, for both sides of the comparison with the oracle.

`tests/oracle/convolution.py` runs them with jax; `primitives/test_convolution.py`, `primitives/test_reduce_window.py` and
`primitives/test_fourier.py` run them with sagax and compare. Operands are small multiples of a power of two, so
that sums of products are exact in whatever order they are taken.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from slicing_cases import Case

BF16 = ml_dtypes.bfloat16
F16 = np.float16


def numbers(*shape: int, dtype: Any = np.float32, salt: str = "") -> np.ndarray:
    """Pseudorandom integers from -3 to 4 (complex ones with such parts, booleans by sign)."""
    size = int(np.prod(shape, dtype=int))
    words = (np.arange(1, size + 1, dtype=np.uint64) + zlib.crc32(salt.encode())) * 2654435761
    values = ((words >> np.uint64(13)) % np.uint64(8)).astype(np.int64).reshape(shape) - 3
    if np.dtype(dtype) == np.bool_:
        return values > 0
    if np.dtype(dtype).kind == "c":
        return (values + 1j * values[::-1]).astype(dtype)
    return values.astype(dtype)


def distinct(*shape: int) -> np.ndarray:
    """Different multiples of 1/4, out of order."""
    size = int(np.prod(shape, dtype=int))
    step = next(k for k in (7, 11, 13, 17, 1) if size % k)
    return ((np.arange(size) * step % max(size, 1) - size // 2) / 4).reshape(shape).astype("f")


# Convolutions -------------------------------------------------------------------------------------

DEFAULT = {1: ("NCH", "OIH", "NCH"), 2: ("NCHW", "OIHW", "NCHW")}
LAST = {1: ("NHC", "HIO", "NHC"), 2: ("NHWC", "HWIO", "NHWC")}
BOTH_WAYS = ((0, None), (None, 0), (0, 0), (1, 2))


def _conv(
    x: tuple, y: tuple, *args: Any, dtype: Any = np.float32, maps: tuple = (), **how: Any
) -> Case:
    def fun(lax: Any, x: Any, y: Any) -> Any:
        return lax.conv_general_dilated(x, y, *args, **how)

    inexact = np.dtype(dtype).kind in "fc"
    return Case(fun, (numbers(*x, dtype=dtype), numbers(*y, dtype=dtype, salt="y")), inexact, maps)


CONVOLUTION = {
    f"{padding} {k} by {stride}": _conv((1, 2, 7), (3, 2, k), (stride,), padding)
    for padding in ("SAME", "SAME_LOWER", "VALID", "same")
    for k, stride in ((2, 1), (3, 2), (4, 3), (1, 2))
} | {
    "image": _conv((2, 6, 5, 3), (3, 2, 3, 4), (2, 1), "SAME", None, (1, 2), LAST[2]),
    "image maps": _conv((2, 5, 5, 2), (2, 2, 2, 3), (1, 2), "VALID", None, None, LAST[2],
                        maps=BOTH_WAYS),
    "image first": _conv((2, 3, 6, 5), (4, 3, 3, 2), (2, 1), ((1, 2), (0, 1))),
    "odd layout": _conv((5, 2, 3, 4), (4, 2, 3, 5), (2, 1), "VALID", None, None,
                        ("HNWC", "IWHO", "CWNH")),
    "negative padding": _conv((1, 2, 8), (2, 2, 3), (2,), ((-1, -2),)),
    "more than padding": _conv((1, 1, 3), (1, 1, 2), (1,), ((-2, 4),)),
    "wide padding": _conv((1, 1, 3), (1, 1, 2), (2,), ((5, 4),)),
    "dilated lhs": _conv((1, 2, 4), (2, 2, 3), (2,), ((1, 3),), (3,)),
    "dilated rhs": _conv((1, 2, 9), (2, 2, 3), (2,), ((1, 1),), None, (3,)),
    "dilated both": _conv((1, 2, 4), (2, 2, 2), (3,), ((2, -1),), (2,), (4,)),
    "too large": _conv((1, 2, 3), (2, 2, 5), (1,), "VALID"),
    "no spatial dimensions": _conv((3, 4), (5, 4), (), ()),
    "three dimensions": _conv((1, 3, 4, 3, 2), (2, 2, 2, 2, 1), (1, 2, 1), "SAME", None, None,
                              ("NDHWC", "DHWIO", "NDHWC")),
    "no batch": _conv((0, 2, 4), (3, 2, 2), (1,), "SAME"),
    "no features": _conv((1, 0, 4), (3, 0, 2), (1,), "SAME"),
    "no output": _conv((1, 2, 4), (0, 2, 2), (1,), "SAME"),
    "no space": _conv((1, 2, 0), (3, 2, 2), (1,), ((2, 1),)),
} | {
    f"{name} {features}/{batches}": _conv(
        (batches * 2, features * 2, 6), (4, 2, 3), (s,), ((1, 2),), None, (d,),
        feature_group_count=features, batch_group_count=batches,
        maps=((0, None), (None, 2), (1, 0)),
    )
    for name, s, d in (("groups", 1, 1), ("strided groups", 2, 2))
    for features, batches in ((2, 1), (4, 1), (1, 2), (1, 4))
} | {
    "depthwise": _conv((2, 5, 4, 3), (2, 2, 1, 6), (1, 1), "SAME", None, None, LAST[2],
                       feature_group_count=3, maps=((0, 0),)),
    "groups in an odd layout": _conv((4, 5, 4), (3, 2, 6), (1,), "SAME", None, None,
                                     ("CHN", "HIO", "HCN"), feature_group_count=2),
    "batch groups in an odd layout": _conv((3, 5, 4), (2, 3, 6), (1,), "SAME", None, None,
                                           ("CHN", "HIO", "HCN"), batch_group_count=2),
} | {
    f"dtype {np.dtype(dtype).name}": _conv((1, 2, 5), (2, 2, 2), (1,), "SAME", dtype=dtype)
    for dtype in (F16, BF16, np.int8, np.uint8, np.int32, np.uint32, np.bool_, np.complex64)
} | {
    f"{np.dtype(dtype).name} to {np.dtype(wide).name}": _conv(
        (1, 2, 5), (2, 2, 2), (1,), "SAME", dtype=dtype, preferred_element_type=wide,
    )
    for dtype, wide in (
        (BF16, np.float32), (F16, np.float32), (np.int8, np.int32), (np.int8, np.float32),
        (np.uint8, np.int32), (np.int16, np.int16),
    )
} | {
    "complex dilated": _conv((2, 2, 4), (2, 2, 2), (2,), ((2, 1),), (2,), (3,),
                             dtype=np.complex64, maps=((0, 0),)),
    "precision": _conv((1, 1, 4), (1, 1, 2), (1,), "SAME", precision="highest"),
    "conv": Case(lambda lax, x, y: lax.conv(x, y, (2,), "SAME"),
                 (numbers(1, 2, 5), numbers(3, 2, 2))),
    "conv_with_general_padding": Case(
        lambda lax, x, y: lax.conv_with_general_padding(x, y, (2,), [(1, 2)], (2,), (3,)),
        (numbers(1, 2, 5), numbers(3, 2, 2)),
    ),
}  # fmt: skip


def _transposed(x: tuple, y: tuple, *args: Any, **how: Any) -> Case:
    return Case(
        lambda lax, x, y: lax.conv_transpose(x, y, *args, **how),
        (numbers(*x), numbers(*y, salt="y")),
    )


def _patches(x: tuple, *args: Any, **how: Any) -> Case:
    return Case(
        lambda lax, x: lax.conv_general_dilated_patches(x, *args, **how),
        (numbers(*x),),
        maps=((1,),),
    )


def _local(x: tuple, y: tuple, *args: Any, **how: Any) -> Case:
    return Case(
        lambda lax, x, y: lax.conv_general_dilated_local(x, y, *args, **how),
        (numbers(*x), numbers(*y, salt="y")),
        maps=((0, None), (0, 0)),
    )


VARIANTS = {
    f"transposed {k} by {stride} {padding} {dilation} {consistent}": _transposed(
        (1, 5, 2), (k, 2, 3), (stride,), padding, (dilation,), use_consistent_padding=consistent
    )
    for k, stride, dilation in (
        (1, 1, 1), (1, 3, 1), (2, 1, 2), (2, 3, 1), (3, 1, 1), (3, 2, 2), (3, 3, 1), (4, 2, 1),
        (4, 3, 2), (5, 2, 1),
    )
    for padding, consistent in (("SAME", False), ("VALID", False), (((1, 2),), False),
                                (((1, 0),), True))
} | {
    "transposed image": _transposed((2, 3, 4, 2), (3, 2, 2, 3), (2, 3), "SAME"),
    "transposed kernel": _transposed((2, 3, 4, 2), (3, 2, 3, 2), (2, 2), "SAME",
                                     transpose_kernel=True),
    "transposed first": _transposed((2, 2, 3, 4), (3, 2, 2, 2), (2, 1), "VALID", None,
                                    ("NCHW", "OIHW", "NCHW")),
    "transposed kernel first": _transposed((2, 3, 4), (3, 2, 3), (2,), "VALID", None,
                                           ("NCH", "OIH", "NHC"), True),
    "patches": _patches((2, 3, 5), (3,), (2,), "SAME"),
    "patches of images": _patches((2, 5, 4, 3), (3, 2), (1, 2), ((1, 0), (0, 2)), None, (1, 2),
                                  LAST[2]),
    "patches odd": _patches((3, 2, 5, 4), (3, 2), (2, 1), "VALID",
                            dimension_numbers=("CNHW", "WHOI", "HCWN")),
    "patches dilated": _patches((1, 1, 4), (2,), (3,), ((2, -1),), (3,), (2,)),
    "local": _local((2, 3, 5), (4, 9, 3), (2,), "SAME", (3,)),
    "local images": _local((2, 5, 4, 3), (3, 2, 18, 5), (2, 2), "SAME", (3, 2),
                           dimension_numbers=LAST[2]),
    "local odd": _local((3, 2, 5, 4), (4, 2, 3, 9), (1, 2), "VALID", (1, 3),
                        dimension_numbers=("CNHW", "WHOI", "HCWN")),
    "local dilated": _local((1, 1, 4), (1, 2, 3), (3,), ((2, -1),), (2,), (3,), (2,)),
}  # fmt: skip


def random_convolution(spec: dict) -> tuple[Callable[[Any], Callable], tuple]:
    """The convolution that a recorded specification describes, and its operands."""

    def with_lax(lax: Any) -> Callable:
        def fun(x: Any, y: Any) -> Any:
            return lax.conv_general_dilated(
                x,
                y,
                spec["strides"],
                [tuple(p) for p in spec["padding"]],
                spec["lhs_dilation"],
                spec["rhs_dilation"],
                tuple(spec["layout"]),
                spec["features"],
                spec["batches"],
            )

        return fun

    return with_lax, (numbers(*spec["lhs"]), numbers(*spec["rhs"], salt="y"))


# Windows ------------------------------------------------------------------------------------------

INITIAL = {"add": 0.0, "max": -np.inf, "min": np.inf, "mul": 1.0}


def _window(op: str, x: np.ndarray, *args: Any, derivative: bool = True, maps: tuple = ()) -> Case:
    def fun(lax: Any, x: Any) -> Any:
        return lax.reduce_window(x, np.asarray(INITIAL[op], x.dtype)[()], getattr(lax, op), *args)

    return Case(fun, (x,), derivative, maps)


WINDOWS = {
    # jax has no cotangents for extrema of windows with negative padding, or of scalars
    f"{op} {name}": _window(
        op, distinct(*shape), *args, maps=maps,
        derivative=op == "add" or name not in ("cut", "alone"),
    )
    for op in ("add", "max", "min")
    for name, shape, args, maps in (
        ("of two", (7,), ((2,),), ((0,),)),
        ("of pools", (2, 4, 6, 3), ((1, 2, 2, 1), (1, 2, 2, 1)), ((0,),)),
        ("same", (5, 4), ((3, 2), (2, 1), "SAME"), ((1,),)),
        ("same_lower", (5, 4), ((2, 3), (1, 2), "SAME_LOWER"), ()),
        ("padded", (5,), ((3,), (2,), ((2, 1),)), ()),
        ("cut", (8,), ((3,), (2,), ((-1, -2),)), ()),
        ("apart", (5,), ((3,), (1,), ((2, 2),), (3,), (1,)), ()),
        ("too large", (3,), ((4,),), ()),
        ("alone", (), ((),), ()),
    )
} | {
    "add dilated": _window("add", distinct(9), (3,), (2,), ((1, 2),), None, (3,)),
    "add dilated both": _window("add", distinct(5), (2,), (3,), ((3, -1),), (2,), (3,)),
    # jax has no cotangents for windows of dilated extrema, nor for computations of the user's own
    "max dilated": _window("max", distinct(9), (3,), (2,), ((1, 2),), None, (3,),
                           derivative=False),
    "min dilated both": _window("min", distinct(5), (2,), (3,), ((3, -1),), (2,), (3,),
                                derivative=False),
    "max of ties": _window("max", numbers(12), (3,), (1,), "SAME"),
    "min of ties": _window("min", numbers(12), (3,), (2,), "VALID"),
    "max of ties in wide windows": _window("max", numbers(40), (20,), (3,), "SAME"),
    "min of ties in wide windows": _window("min", numbers(7, 6), (5, 4), (2, 1), "SAME"),
    "max of NaN": _window("max", np.array([1, 3, 3, np.nan, 2, 2, -np.inf, 5], "f"), (3,)),
    "add integers": _window("add", numbers(3, 5, dtype=np.int32), (2, 2), derivative=False),
    "add complex": _window("add", numbers(4, 3, dtype=np.complex64), (2, 2), (1, 1), "SAME"),
    "max bfloat16": _window("max", distinct(6).astype(BF16), (3,), derivative=False),
    "mul": _window("mul", numbers(4, 3), (2, 2), (1, 2), "SAME", derivative=False, maps=((0,),)),
    "mul dilated": _window("mul", numbers(5), (3,), (1,), ((3, 2),), (2,), (2,),
                           derivative=False),
    "max of integers": Case(
        lambda lax, x: lax.reduce_window(x, -(2**31), lax.max, (2,)),
        (numbers(6, dtype=np.int32),), False,
    ),
    "from another start": Case(
        lambda lax, x: lax.reduce_window(x, np.float32(2), lax.add, (2,), (1,), "SAME"),
        (numbers(5),), False, (),
    ),
    "two at once": Case(
        lambda lax, x, y: lax.reduce_window(
            (x, y), (np.float32(0), np.float32(1)), lambda a, b: (a[0] + b[0], a[1] * b[1]),
            (2, 2), (1, 2), "SAME",
        ),
        (numbers(3, 4), numbers(3, 4, salt="y")), False, ((0, None), (None, 1), (0, 1)),
    ),
    "position of the greatest": Case(
        lambda lax, x, i: lax.reduce_window(
            (x, i), (np.float32(-np.inf), np.int32(-1)),
            lambda a, b: tuple(lax.select(lax.ge(a[0], b[0]), p, q) for p, q in zip(a, b)),
            (3,), (2,), ((1, 1),),
        ),
        (distinct(7), np.arange(7, dtype=np.int32)), False,
    ),
}  # fmt: skip


def random_window(spec: dict) -> tuple[Callable[[Any], Callable], tuple]:
    """The reduction over windows that a recorded specification describes, and its operand."""

    def with_lax(lax: Any) -> Callable:
        def fun(x: Any) -> Any:
            return lax.reduce_window(
                x,
                np.float32(INITIAL[spec["op"]]),
                getattr(lax, spec["op"]),
                spec["sizes"],
                spec["strides"],
                [tuple(p) for p in spec["padding"]],
                spec["base_dilation"],
                spec["window_dilation"],
            )

        return fun

    return with_lax, (distinct(*spec["shape"]),)


# Fourier transforms -------------------------------------------------------------------------------


def _fft(x: np.ndarray, kind: str, *lengths: int, derivative: bool = True) -> Case:
    return Case(
        lambda lax, x: lax.fft(x, kind, lengths), (x,), derivative, ((x.ndim - len(lengths),),)
    )


C64 = np.complex64
FOURIER = {
    f"{kind} {lengths}": _fft(numbers(3, *lengths, dtype=C64), kind, *lengths)
    for kind in ("FFT", "IFFT")
    for lengths in ((1,), (2,), (7,), (8,), (3, 4), (4, 3), (2, 3, 4), (3, 5, 7))
} | {
    f"RFFT {lengths}": _fft(numbers(3, *lengths), "RFFT", *lengths)
    for lengths in ((1,), (2,), (7,), (8,), (3, 4), (4, 3), (2, 3, 4), (3, 5, 7))
} | {
    f"IRFFT {lengths}": _fft(
        numbers(3, *lengths[:-1], lengths[-1] // 2 + 1, dtype=C64), "IRFFT", *lengths
    )
    for lengths in ((1,), (2,), (7,), (8,), (3, 4), (4, 3), (2, 3, 4), (3, 5, 7))
} | {
    "FFT of real numbers": _fft(numbers(2, 6), "FFT", 6),
    "IFFT of integers": _fft(numbers(2, 6, dtype=np.int32), "ifft", 6, derivative=False),
    "RFFT of integers": _fft(numbers(2, 6, dtype=np.int32), "rfft", 6, derivative=False),
    "FFT of nothing": _fft(numbers(2, 0, dtype=C64), "FFT", 0),
    "FFT of no examples": _fft(numbers(0, 4, dtype=C64), "FFT", 4),
    "RFFT of no examples": _fft(numbers(0, 4), "RFFT", 4),
    "IRFFT to nothing": _fft(numbers(2, 1, dtype=C64), "IRFFT", 0, derivative=False),
    "FFT over no dimensions": _fft(numbers(2, 3, dtype=C64), "FFT"),
}  # fmt: skip
