"""Calls of `lax` over ranges of parameters, for both sides of the comparison with the oracle.

Each case is a function of the module `lax` and operands. `tests/oracle/lax.py` runs them with jax,
`lax/test_lax_oracle.py` with sagax; both with 64-bit types on. Parameters are drawn from generators with
fixed seeds, so that both sides see the same cases.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np


class Case(NamedTuple):
    """`fun(lax, *operands)`. `close`: the relative tolerance; 0 for the same bits (all NaN are one)."""

    fun: Callable[..., Any]
    operands: tuple = ()
    close: float = 0.0


CASES: dict[str, Case] = {}
_ARRAY = (np.ndarray, np.generic)


def case(name: str, fun: Callable, *operands: Any, close: float = 0.0) -> None:
    assert name not in CASES, name
    CASES[name] = Case(fun, operands, close)


def named(name: str, *operands: Any, close: float = 0.0, label: str = "", **how: Any) -> None:
    """A case that is one call of `lax.<name>`; dots lead into `lax.linalg`."""

    def fun(lax: Any, *xs: Any) -> Any:
        for part in name.split("."):
            lax = getattr(lax, part)
        return lax(*xs, **how)

    what = " ".join(
        [name]
        + [str(x) if not isinstance(x, _ARRAY) else f"{x.dtype}{list(x.shape)}" for x in operands]
        + [f"{k}={v}" for k, v in how.items()]
    )
    case(f"{what} {label}".strip(), fun, *operands, close=close)


# Dtypes and values ---------------------------------------------------------------------------------

BF16 = np.dtype(ml_dtypes.bfloat16)
F16, F32, F64 = (np.dtype(t) for t in ("f2", "f4", "f8"))
C64, C128 = np.dtype("c8"), np.dtype("c16")
FLOATS = [F16, BF16, F32, F64]
COMPLEX = [C64, C128]
SIGNED = [np.dtype(t) for t in ("i1", "i2", "i4", "i8")]
UNSIGNED = [np.dtype(t) for t in ("u1", "u2", "u4", "u8")]
INTEGERS = SIGNED + UNSIGNED
BOOL = np.dtype(bool)
FLOAT8 = [
    np.dtype(getattr(ml_dtypes, f"float8_{form}"))
    for form in ("e4m3fn", "e5m2", "e4m3b11fnuz", "e4m3fnuz", "e5m2fnuz", "e3m4", "e4m3", "e8m0fnu")
]
INT4 = [np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.uint4)]
# error of one operation in the last place, and of some dozen
CLOSE = {F16: 4e-3, BF16: 3e-2, F32: 3e-6, F64: 1e-13, C64: 1e-5, C128: 1e-12}


def small(
    *shape: int, dtype: Any = F32, salt: str = "", low: int = -3, high: int = 4
) -> np.ndarray:
    """Pseudorandom integers from `low` to `high`, of any dtype (complex ones with such parts)."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=int))
    words = (np.arange(1, size + 1, dtype=np.uint64) + zlib.crc32(salt.encode())) * 2654435761
    values = ((words >> np.uint64(13)) % np.uint64(high - low + 1)).astype(np.int64) + low
    values = values.reshape(shape)
    if dtype == BOOL:
        return values > 0
    if dtype.kind == "c":
        return (values + 1j * values[..., ::-1] if shape else values).astype(dtype)
    if dtype.kind == "u" or dtype == INT4[1]:
        values = values - low
    return values.astype(dtype)


def normal(*shape: int, dtype: Any = F32, salt: str = "") -> np.ndarray:
    """Normally distributed numbers."""
    rng = np.random.default_rng(zlib.crc32(salt.encode()))
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def special(dtype: Any) -> np.ndarray:
    """Numbers of a dtype at which functions do something special."""
    dtype = np.dtype(dtype)
    if dtype == BOOL:
        return np.array([False, True])
    if dtype in INT4:
        info = ml_dtypes.iinfo(dtype)
        return np.arange(int(info.min), int(info.max) + 1).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        near = {0, 1, 2, 3, 7, info.max, info.max - 1, info.max // 2, info.min, info.min + 1}
        return np.array(sorted(near | ({-1, -2, -7} if info.min else set())), dtype)
    if dtype.kind == "c":
        parts = special(F32 if dtype == C64 else F64)
        few = parts[[0, 1, 2, 4, 6, 7, 8, 9]]
        return (few[:, None] + np.zeros_like(few)).astype(dtype) + _imaginary(few, dtype)
    info = ml_dtypes.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 3.5, 1e-3, float(info.max),
              float(info.tiny), -float(info.max), 0.49999997, 7.0, -0.75]  # fmt: skip
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype)


def _imaginary(values: np.ndarray, dtype: Any) -> np.ndarray:
    out = np.zeros((len(values), len(values)), dtype)
    out.imag = values[None, :]
    out.real = -0.0  # keeps the sign of a real part that is zero
    return out


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each value with each."""
    n = len(values)
    return np.repeat(values, n), np.tile(values, n)


def letters(rng: random.Random, text: str) -> str:
    return "".join(rng.sample(text, len(text)))


# Elementwise: every function at special points -------------------------------------------------------

_ROUNDING = ("floor", "ceil")
_EXACT = (
    "abs", "neg", "sign", "is_finite", "square", "sqrt", "floor", "ceil", "round",
)  # fmt: skip
_UNARY = (
    "exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "cbrt", "rsqrt", "logistic", "reciprocal",
)  # fmt: skip
_REAL_ONLY = ("erf", "erfc", "erf_inv", "lgamma", "digamma", "bessel_i0e", "bessel_i1e")
for dtype in FLOATS:
    points = special(dtype)
    for name in _EXACT:
        named(name, points)
    for name in (*_UNARY, *_REAL_ONLY):
        named(name, points, close=4 * CLOSE[dtype])
    named("round", points, 1, label="to even")
    named("nextafter", *pairs(points))
    x, y = pairs(points)
    for name in ("add", "sub", "mul", "div", "max", "min", "rem"):
        named(name, x, y)
    for name in ("pow", "atan2"):
        named(name, x, y, close=4 * CLOSE[dtype])
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        named(name, x, y)
    for k in (-3, -1, 0, 1, 2, 3, 7):
        named("integer_pow", points, k, close=4 * CLOSE[dtype])
    for low, high in ((-1.0, 2.5), (2.0, -1.0), (np.nan, 1.0)):
        named("clamp", dtype.type(low), points, dtype.type(high), label=f"{low} {high}")
for dtype in COMPLEX:
    points = special(dtype)
    for name in ("abs", "neg", "conj", "real", "imag", "square", "sign", "is_finite"):
        close = 0 if name in ("neg", "conj", "real", "imag") else 4 * CLOSE[dtype]
        if name == "is_finite":
            continue
        named(name, points, close=close)
    tame = normal(6, 5, dtype=dtype, salt="tame") * np.array([0.01, 0.3, 1, 2, 5], dtype)
    for name in (*_UNARY, "sqrt") if dtype == C64 else ("exp", "log", "sqrt", "tanh", "asin"):
        if name == "cbrt":
            continue
        both = np.concatenate([points.ravel(), tame.ravel()])
        named(name, both, close=20 * CLOSE[dtype], label="special and tame")
    for name in ("add", "sub", "mul", "div", "pow", "eq", "ne"):
        named(name, tame, np.roll(tame, 1), close=40 * CLOSE[dtype])
    for k in (-2, 0, 1, 3):
        named("integer_pow", tame, k, close=20 * CLOSE[dtype])

# Integers at their edges ---------------------------------------------------------------------------

for dtype in [*INTEGERS, *INT4]:
    points = special(dtype)
    x, y = pairs(points)
    for name in ("abs", "neg", "sign", "bitwise_not", "population_count", "clz", "square"):
        if name == "abs" and dtype in [*UNSIGNED, *INT4]:
            continue
        named(name, points)
    for name in ("add", "sub", "mul", "div", "rem", "max", "min", "bitwise_and", "bitwise_or",
                 "bitwise_xor", "eq", "lt", "ge"):  # fmt: skip
        named(name, x, y)
    for k in (0, 1, 2, 3, 5):
        named("integer_pow", points, k)
for dtype in INTEGERS:
    points = special(dtype)
    bits = 8 * dtype.itemsize
    counts = np.array([0, 1, 2, bits - 1, bits, bits + 1, 100]).astype(dtype)
    x, y = np.repeat(points, len(counts)), np.tile(counts, len(points))
    for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical"):
        named(name, x, y)
    if dtype.itemsize > 1:
        named("mulhi", *pairs(points))
    powers = np.array([0, 1, 2, 3, 5], dtype)
    for base in (F32, F64):  # of integers there is no power
        few = np.repeat(special(base), 5), np.tile(powers, len(special(base)))
        named("pow", *few, close=4 * CLOSE[base])

# Casts ------------------------------------------------------------------------------------------------

EVERY = [BOOL, *INT4, *INTEGERS, *FLOAT8, *FLOATS, *COMPLEX]


def _defined(values: np.ndarray, target: np.dtype) -> np.ndarray:
    """Those of the values whose cast to `target` means something on every machine."""
    if target.kind in "iu" or target in INT4:
        if values.dtype.kind in "iub" or values.dtype in INT4:
            return values
        info = ml_dtypes.iinfo(target)
        with np.errstate(all="ignore"):
            wide = np.real(values.astype(np.complex128))
            return values[
                np.isfinite(wide) & (wide > float(info.min) - 1) & (wide < float(info.max))
            ]
    return values


for source in EVERY:

    def _cast_all(lax: Any, *xs: Any) -> list:
        return [lax.convert_element_type(x, t) for x, t in zip(xs, EVERY, strict=True)]

    case(
        f"cast {source} to every dtype",
        _cast_all,
        *(_defined(special(source).ravel(), t) for t in EVERY),
    )


def _bits(dtype: np.dtype) -> int:
    return 4 if dtype in INT4 else 8 * dtype.itemsize


for source in [*INTEGERS, *FLOATS, *FLOAT8, *INT4]:
    for ratio in (0.25, 0.5, 1, 2, 4):
        targets = [
            t for t in [*INTEGERS, *FLOATS, *FLOAT8, *INT4] if _bits(t) == ratio * _bits(source)
        ]
        shape = (3, int(ratio)) if ratio > 1 else (6,)

        def _bitcast_all(lax: Any, x: Any, targets: Any = targets) -> list:
            return [lax.bitcast_convert_type(x, t) for t in targets]

        if targets:
            values = np.resize(small(6, dtype=source, salt="bits"), shape)
            case(f"bitcast {source} to {ratio} times its bits", _bitcast_all, values)

# Rounding ---------------------------------------------------------------------------------------------

for dtype in FLOATS:
    halves = (np.arange(-12, 13) / 4).astype(dtype)
    named("round", halves, 0)
    named("round", halves, 1)
    for exponent, mantissa in ((8, 7), (5, 10), (4, 3), (5, 2), (2, 1), (8, 23), (1, 0)):
        named("reduce_precision", np.concatenate([special(dtype), halves]), exponent, mantissa)

# Reductions and cumulative operations -------------------------------------------------------------------

_KINDS = [
    BOOL,
    np.dtype("i1"),
    np.dtype("i4"),
    np.dtype("u4"),
    np.dtype("i8"),
    F16,
    BF16,
    F32,
    F64,
    C64,
]
for dtype in _KINDS:
    x = small(3, 1, 4, dtype=dtype, salt="reduce")
    logical = dtype.kind in "biu"
    names = ["reduce_max", "reduce_min"] if dtype.kind != "c" else []
    names += ["reduce_and", "reduce_or", "reduce_xor"] if logical else []
    names += ["reduce_sum", "reduce_prod"] if dtype != BOOL else []
    for name in names:
        for axes in ((0,), (0, 2), (1,), (), (0, 1, 2)):
            named(name, x, axes, close=CLOSE.get(dtype, 0), label=name)
        if name not in ("reduce_max", "reduce_min") or dtype.kind != "c":
            named(name, small(0, 3, dtype=dtype), (0,), label="of nothing")
    if dtype.kind != "c":
        for name, axis, index in itertools.product(("argmax", "argmin"), (0, 2), ("i4", "u1")):
            named(name, x, axis, np.dtype(index))
    names = ["cumsum", "cumprod"] + (["cummax", "cummin"] if dtype.kind != "c" else [])
    if dtype.kind in "fV" or dtype == BF16:
        names.append("cumlogsumexp")
    for name, axis, reverse in itertools.product(names, (0, 2), (False, True)):
        if dtype != BOOL:
            named(name, x, axis=axis, reverse=reverse, close=8 * CLOSE.get(dtype, 0))
for dtype in FLOATS:
    rows = np.stack([np.roll(special(dtype)[:9], k) for k in range(9)])
    for name in ("reduce_max", "reduce_min"):
        named(name, rows, (1,), label="special")
        named(name, rows[:, [1, 0]], (1,), label="zeros")
    for name in ("argmax", "argmin"):
        named(name, rows, 1, np.int32, label="special")
    for name in ("cummax", "cummin", "cumsum", "cumprod"):
        named(name, rows, axis=1, label="special", close=CLOSE[dtype])


def _largest_difference(lax: Any, x: Any, init: Any) -> Any:
    return lax.reduce(x, init, lambda a, b: lax.max(a, lax.abs(b)), (1,))


for dtype in (F32, BF16, np.dtype("i4")):
    case(f"reduce custom {dtype}", _largest_difference, small(3, 5, dtype=dtype), dtype.type(0))

# Sorting ------------------------------------------------------------------------------------------------

for dtype in [BOOL, *INTEGERS, *INT4, *FLOATS, FLOAT8[0], FLOAT8[1], C64]:
    few = special(dtype).ravel()
    mixed = np.tile(few, 2)[::-1].copy()
    ties = small(3, 6, dtype=dtype, salt="ties")
    named("sort", mixed, label="special")
    named("sort", ties, dimension=0)
    named("sort_key_val", ties, np.arange(18).reshape(3, 6), dimension=1)
    case(f"sort by two {dtype}",
         lambda lax, *xs: lax.sort(xs, dimension=1, num_keys=2),
         ties, np.roll(ties, 1, 1), np.arange(18, dtype=np.int16).reshape(3, 6))  # fmt: skip
    if dtype.kind != "c" and dtype not in (FLOAT8[0], FLOAT8[1], *INT4):
        named("top_k", mixed, 3, label="special")
        named("top_k", ties, 6)
        named("top_k", ties, 2, axis=0)
for dtype in FLOATS:
    for name in ("approx_max_k", "approx_min_k"):
        unique = np.random.default_rng(3).permutation(20).reshape(2, 10).astype(dtype)
        named(name, unique, 3)
        named(name, unique, 2, reduction_dimension=0)

# Contractions -------------------------------------------------------------------------------------------


def _contraction(rng: random.Random, k: int) -> None:
    names = "abcdef"[: rng.randint(1, 5)]
    sizes = {n: rng.choice((1, 2, 3)) for n in names}
    role = {n: rng.choice(("batch", "sum", "left", "right")) for n in names}
    left = letters(rng, "".join(n for n in names if role[n] != "right"))
    right = letters(rng, "".join(n for n in names if role[n] != "left"))
    batch = letters(rng, "".join(n for n in names if role[n] == "batch"))
    summed = letters(rng, "".join(n for n in names if role[n] == "sum"))
    numbers = tuple(
        tuple(tuple(side.index(n) for n in which) for side in (left, right))
        for which in (summed, batch)
    )
    dtype = rng.choice([F32, F32, F16, BF16, F64, C64, np.dtype("i4"), np.dtype("u1"), FLOAT8[0]])
    wider = {F16: F32, BF16: F32, F32: F64, FLOAT8[0]: F32, np.dtype("u1"): np.dtype("i4")}
    preferred = wider.get(dtype) if rng.random() < 0.5 else None
    precision = rng.choice((None, "highest", ("high", "default")))
    x, y = (
        small(*(sizes[n] for n in side), dtype=dtype, salt=f"{k}{side}", low=-2, high=2)
        for side in (left, right)
    )
    case(
        f"dot_general {k}: {left},{right} sum {summed} batch {batch} {dtype} to {preferred}",
        lambda lax, x, y: lax.dot_general(
            x, y, numbers, precision=precision, preferred_element_type=preferred
        ),
        x,
        y,
    )


_rng = random.Random("dot_general")
for k in range(60):
    _contraction(_rng, k)
for preset, dtype in itertools.product(
    ("DEFAULT", "F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "F32_F32_F32",
     "F64_F64_F64", "F16_F16_F32", "TF32_TF32_F32", "ANY_F8_ANY_F8_F32"),
    (F16, BF16, F32, F64),
):  # fmt: skip
    named("dot", small(2, 3, dtype=dtype), small(3, 2, dtype=dtype, salt="y"), precision=preset)
_sizes = np.array([2, 0, 3], np.int32)


# operands of two dtypes: the result is of the higher kind, or of the wider range
_MIXED = [
    BOOL,
    *SIGNED[:1],
    UNSIGNED[0],
    SIGNED[2],
    F16,
    BF16,
    F32,
    C64,
    FLOAT8[0],
    FLOAT8[1],
    FLOAT8[3],
]
for _left, _right in itertools.permutations(_MIXED, 2):
    case(
        f"dot_general of {_left} and {_right}",
        lambda lax, x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ()))),
        small(2, 3, dtype=_left, low=-1, high=2), small(3, 2, dtype=_right, salt="y", low=-1, high=2),
    )  # fmt: skip


def _ragged(x: np.ndarray, y: np.ndarray, sizes: np.ndarray, numbers: Any, label: str) -> None:
    case(
        f"ragged_dot_general {label}",
        lambda lax, x, y, g: lax.ragged_dot_general(
            x, y, g, lax.RaggedDotDimensionNumbers(*numbers)
        ),
        x,
        y,
        sizes,
    )


for dtype in (F32, BF16, np.dtype("i4")):
    named("ragged_dot", small(6, 2, dtype=dtype), small(3, 2, 4, dtype=dtype), _sizes)
    _ragged(small(2, 5, dtype=dtype), small(5, 3, dtype=dtype), _sizes,
            ((((1,), (0,)), ((), ())), [1], []), f"sums {dtype}")  # fmt: skip
    _ragged(small(2, 5, 3, dtype=dtype), small(3, 2, 3, 2, dtype=dtype), np.stack([_sizes, _sizes[::-1]]),
            ((((2,), (2,)), ((0,), (1,))), [1], [0]), f"batch {dtype}")  # fmt: skip
    _ragged(small(5, 2, 3, dtype=dtype), small(5, 3, 2, dtype=dtype), _sizes,
            ((((2,), (1,)), ((0,), (0,))), [0], []), f"of batches {dtype}")  # fmt: skip
for dtype, preferred in ((F32, F32), (FLOAT8[0], BF16), (FLOAT8[0], None), (BF16, F32)):
    case(f"scaled_dot {dtype} {preferred}",
         lambda lax, x, y, a, b, preferred=preferred: lax.scaled_dot(
             x, y, lhs_scale=a, rhs_scale=b, preferred_element_type=preferred),
         small(3, 8, dtype=dtype), small(8, 2, dtype=dtype, salt="y"),
         small(3, 2, low=1).astype(FLOAT8[-1]), small(4, 2, low=1).astype(FLOAT8[-1]))  # fmt: skip

# Convolutions -------------------------------------------------------------------------------------------


def _convolution(rng: random.Random, k: int) -> None:
    n = rng.choice((0, 1, 1, 2, 2, 3))
    spatial = "DHW"[:n]
    features, batches = rng.choice(((1, 1), (1, 1), (2, 1), (1, 2)))
    sizes = {"N": 2 * batches, "C": 2 * features, "O": 2 * features * batches, "I": 2}
    sizes |= {c: rng.randint(1, 6) for c in spatial}
    window = {**sizes, **{c: rng.randint(1, 3) for c in spatial}}
    layout = (
        letters(rng, "NC" + spatial),
        letters(rng, "OI" + spatial),
        letters(rng, "NC" + spatial),
    )
    dtype = rng.choice([F32, F32, F16, BF16, F64, C64, np.dtype("i4"), np.dtype("i1")])
    wider = {F16: F32, BF16: F32, F32: F64, np.dtype("i1"): np.dtype("i4")}
    preferred = wider.get(dtype) if rng.random() < 0.5 else None
    padding = rng.choice(("SAME", "VALID", "SAME_LOWER", "pairs", "pairs"))
    dilated = padding == "pairs" and rng.random() < 0.6
    strides = [rng.randint(1, 3) for _ in spatial]
    how: dict[str, Any] = {
        "rhs_dilation": [rng.choice((1, 2)) for _ in spatial],
        "lhs_dilation": [rng.choice((1, 2, 3)) if dilated else 1 for _ in spatial],
        "feature_group_count": features,
        "batch_group_count": batches,
        "preferred_element_type": preferred,
    }
    amounts: Any = padding
    if padding == "pairs":
        amounts = [(rng.randint(-1, 3), rng.randint(-1, 3)) for _ in spatial]
    x = small(*(sizes[c] for c in layout[0]), dtype=dtype, salt=f"x{k}", low=-2, high=2)
    y = small(*(window[c] for c in layout[1]), dtype=dtype, salt=f"y{k}", low=-2, high=2)
    case(
        f"conv {k}: {','.join(layout)} {dtype} strides {strides} {amounts}",
        lambda lax, x, y: lax.conv_general_dilated(
            x, y, strides, amounts, dimension_numbers=layout, **how
        ),
        x,
        y,
    )


_rng = random.Random("conv")
for k in range(48):
    _convolution(_rng, k)

# Windows ------------------------------------------------------------------------------------------------

_COMBINE = {"add": 0, "max": -np.inf, "min": np.inf, "mul": 1}


def _neutral(op: str, dtype: np.dtype) -> Any:
    if dtype == BOOL:
        return dtype.type(op == "bitwise_and")
    if op in ("bitwise_or", "bitwise_and"):
        return dtype.type(0 if op == "bitwise_or" else -1)
    value = _COMBINE[op]
    if np.isinf(value) and dtype.kind in "iu":
        return np.iinfo(dtype).min if value < 0 else np.iinfo(dtype).max
    return value


def _window(rng: random.Random, k: int) -> None:
    n = rng.choice((1, 1, 2, 3))
    dtype = rng.choice([F32, F32, F16, BF16, F64, np.dtype("i4"), np.dtype("u1"), BOOL])
    op = rng.choice(("bitwise_or", "bitwise_and") if dtype == BOOL else tuple(_COMBINE))
    init = np.asarray(_neutral(op, dtype)).astype(dtype)[()]
    if rng.random() < 0.2:
        init = dtype.type(1)  # not the neutral element: an ordinary reduction
    pad = rng.choice(("SAME", "VALID", "SAME_LOWER", "pairs", "pairs"))
    padding = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in range(n)] if pad == "pairs" else pad
    how: dict[str, Any] = {
        "window_dimensions": tuple(rng.randint(1, 3) for _ in range(n)),
        "window_strides": tuple(rng.randint(1, 3) for _ in range(n)),
        "padding": padding,
        "base_dilation": tuple(rng.choice((1, 1, 2)) for _ in range(n)),
        "window_dilation": tuple(rng.choice((1, 1, 2)) for _ in range(n)),
    }
    x = small(*(rng.randint(2, 6) for _ in range(n)), dtype=dtype, salt=f"w{k}", low=-2, high=2)
    case(
        f"reduce_window {k}: {op} {dtype}{list(x.shape)} {how}",
        lambda lax, x: lax.reduce_window(x, init, getattr(lax, op), **how),
        x,
    )


_rng = random.Random("window")
for k in range(60):
    _window(_rng, k)

# Gather and scatter -------------------------------------------------------------------------------------

_MODES = ("clip", "fill", "promise_in_bounds", None)


def _places(rng: random.Random, k: int) -> tuple[Any, ...]:
    """Operand shape, indices, dimension numbers as keywords and slice sizes, of a random gather."""
    n = rng.choice((1, 2, 2, 3))
    shape = [rng.randint(2, 5) for _ in range(n)]
    dims = list(range(n))
    batching = rng.sample(dims, rng.choice((0, 0, 1))) if n > 1 else []
    rest = [d for d in dims if d not in batching]
    mapped = rng.sample(rest, rng.randint(1, len(rest)))
    collapsed = [d for d in mapped if rng.random() < 0.6]
    sizes = [1 if d in collapsed or d in batching else rng.randint(1, shape[d]) for d in dims]
    batch_shape = [shape[d] for d in batching] + [3][: rng.choice((0, 1))]
    dtype = rng.choice(["i4", "i4", "i8", "u1", "i1", "u4"])
    mode = rng.choice(_MODES)
    low, high = (0, 1) if mode == "promise_in_bounds" or dtype[0] == "u" else (-2, 6)
    index = small(*batch_shape, len(mapped), dtype=np.int64, salt=f"i{k}", low=low, high=high)
    if mode == "promise_in_bounds":
        index = np.minimum(index, [shape[d] - sizes[d] for d in mapped])
    window = n - len(collapsed) - len(batching)
    offsets = sorted(rng.sample(range(len(batch_shape) + window), window))
    numbers = {
        "offset_dims": tuple(offsets),
        "collapsed_slice_dims": tuple(sorted(collapsed)),
        "start_index_map": tuple(mapped),
        "operand_batching_dims": tuple(batching),
        "start_indices_batching_dims": tuple(range(len(batching))),
    }
    return shape, index.astype(dtype), numbers, sizes, mode


def _gather(rng: random.Random, k: int) -> None:
    shape, index, numbers, sizes, mode = _places(rng, k)
    dtype = rng.choice([F32, BF16, np.dtype("i4"), np.dtype("u1"), BOOL, C64])
    fill = 7 if mode == "fill" and rng.random() < 0.3 and dtype != BOOL else None
    case(
        f"gather {k}: {dtype}{shape} {index.dtype}{list(index.shape)} {numbers} {sizes} {mode} {fill}",
        lambda lax, x, i: lax.gather(
            x, i, lax.GatherDimensionNumbers(**numbers), sizes, mode=mode, fill_value=fill
        ),
        small(*shape, dtype=dtype, salt=f"g{k}", low=-9, high=9),
        index,
    )


def _scatter(rng: random.Random, k: int, name: str) -> None:
    shape, index, numbers, sizes, mode = _places(rng, k)
    dtype = rng.choice([F32, F32, BF16, np.dtype("i4"), np.dtype("u1"), F64])
    batch = iter(index.shape[:-1])
    n_out = len(index.shape) - 1 + len(numbers["offset_dims"])
    kept = (
        sizes[d]
        for d in range(len(shape))
        if d not in numbers["collapsed_slice_dims"] and d not in numbers["operand_batching_dims"]
    )
    update_shape = [
        next(kept) if d in numbers["offset_dims"] else next(batch) for d in range(n_out)
    ]
    dims = {
        "update_window_dims": numbers["offset_dims"],
        "inserted_window_dims": numbers["collapsed_slice_dims"],
        "scatter_dims_to_operand_dims": numbers["start_index_map"],
        "operand_batching_dims": numbers["operand_batching_dims"],
        "scatter_indices_batching_dims": numbers["start_indices_batching_dims"],
    }
    updates = small(*update_shape, dtype=dtype, salt=f"u{k}", low=1, high=2)
    if name == "scatter":  # which of several updates of one place wins is not defined
        updates = np.full(update_shape, 5, dtype)
    case(
        f"{name} {k}: {dtype}{shape} {index.dtype}{list(index.shape)} {dims} {update_shape} {mode}",
        lambda lax, x, i, u: getattr(lax, name)(
            x, i, u, lax.ScatterDimensionNumbers(**dims), mode=mode
        ),
        small(*shape, dtype=dtype, salt=f"s{k}", low=-4, high=4),
        index,
        updates,
    )


_rng = random.Random("gather")
for k in range(60):
    _gather(_rng, k)
_rng = random.Random("scatter")
for name in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"):
    for k in range(16):
        _scatter(_rng, k, name)

# Slices -------------------------------------------------------------------------------------------------

for dtype in INTEGERS:
    x = small(5, 4, salt="slice")
    edges = np.array([0, 2, 4, 5, 100 if dtype.kind == "i" else 200]).astype(dtype)
    if dtype.kind == "i":
        edges = np.concatenate([edges, np.array([-1, -3, -100], dtype)])
    for start in edges:
        case(f"dynamic_slice {dtype} {start}",
             lambda lax, x, i: lax.dynamic_slice(x, (i, i), (2, 2)), x, start)  # fmt: skip
        case(f"dynamic_update_slice {dtype} {start}",
             lambda lax, x, u, i: lax.dynamic_update_slice(x, u, (i, i)),
             x, np.full((2, 2), 9, F32), start)  # fmt: skip
    for start in edges[:6]:
        for keep in (True, False):
            case(f"dynamic_index_in_dim {dtype} {start} {keep}",
                 lambda lax, x, i, keep=keep: lax.dynamic_index_in_dim(x, i, 0, keep), x, start)  # fmt: skip
for start, limit, stride in ((0, 4, 1), (1, 4, 2), (2, 2, 1), (0, 4, 3), (3, 4, 5)):
    named("slice_in_dim", small(5, 4), start, limit, stride, 1)
    named("slice", small(5, 4, dtype=BF16), (start, 0), (limit, 4), (stride, 2))

# Structure ----------------------------------------------------------------------------------------------

for dtype in (BOOL, np.dtype("i4"), BF16, F32, C64, FLOAT8[0], INT4[0]):
    x = small(2, 3, dtype=dtype, salt="structure")
    one = np.asarray(1).astype(dtype)[()]
    for config in (((1, 2, 0), (0, 1, 2)), ((-1, 0, 0), (2, -2, 1)), ((0, 0, 3), (-1, -1, 0)), ((1, -2, 1), (0, 0, 0))):  # fmt: skip
        named("pad", x, one, config)
    named("rev", x, (0, 1))
    named("transpose", x, (1, 0))
    named("reshape", x, (3, 2))
    named("reshape", x, (6,), (1, 0))
    named("broadcast", x, (2, 1))
    named("broadcast_in_dim", x, (2, 4, 3), (0, 2))
    named("broadcast_in_dim", x[:, :1], (2, 3), (0, 1))
    named("expand_dims", x, (0, 2))
    named("squeeze", x[:1], (0,))
    named("tile", x, (2, 1))
    named("full_like", x, 1)
    named("split", x, (1, 2), 1)
    case(f"concatenate {dtype}", lambda lax, x: lax.concatenate([x, x, x[:1]], 0), x)
    case(f"select {dtype}", lambda lax, x, y: lax.select(y, x, lax.rev(x, (0,))), x, x == x[:1])
    case(f"select_n {dtype}", lambda lax, i, x: lax.select_n(i, x, lax.rev(x, (0,)), x),
         np.array([[0, 1, 2], [2, 1, 0]], np.int32), x)  # fmt: skip
    case(f"select_n scalar {dtype}", lambda lax, i, x: lax.select_n(i, x, lax.rev(x, (0,))),
         np.bool_(True), x)  # fmt: skip
for dtype in [d for d in EVERY if d != BOOL]:
    case(f"iota {dtype}", lambda lax, dtype=dtype: lax.iota(dtype, 5))
    case(f"full {dtype}", lambda lax, dtype=dtype: lax.full((2,), 1, dtype))
    case(
        f"broadcasted_iota {dtype}", lambda lax, dtype=dtype: lax.broadcasted_iota(dtype, (2, 3), 1)
    )

# Python numbers beside arrays ---------------------------------------------------------------------------

for name in ("add", "sub", "mul", "div", "max", "min", "rem", "pow", "atan2", "eq", "lt"):
    for x, number in ((small(3, dtype=F64), 2.5), (small(3, dtype=np.dtype("i8")), 2), (F64.type(2), 2.5), (2.5, 0.5), (2, 3)):  # fmt: skip
        if name not in ("pow", "atan2") or type(number) is float:
            named(name, x, number, close=CLOSE[F64], label="number right")
            named(name, number, x, close=CLOSE[F64], label="number left")

# Fourier ------------------------------------------------------------------------------------------------

for dtype in (F32, F64):
    wide = C64 if dtype == F32 else C128
    for lengths in ((1,), (2,), (5,), (8,), (3, 4), (4, 5), (2, 3, 4)):
        shape = (2, *lengths)
        for kind in ("FFT", "IFFT", "RFFT", "IRFFT"):
            x = normal(*shape, dtype=dtype if kind == "RFFT" else wide, salt=f"fft{shape}")
            if kind == "IRFFT":
                x = x[..., : lengths[-1] // 2 + 1]
            case(f"fft {kind} {lengths} {dtype}",
                 lambda lax, x, kind=kind, lengths=lengths: lax.fft(x, kind, lengths),
                 x, close=20 * CLOSE[dtype])  # fmt: skip

# Linear algebra: batches, empty and failing inputs ------------------------------------------------------


def _positive(*shape: int, dtype: Any = F32) -> np.ndarray:
    x = normal(*shape, dtype=dtype, salt="pd")
    return (x @ np.swapaxes(x.conj(), -1, -2) + 3 * np.eye(shape[-1])).astype(dtype)


for dtype in (F32, F64, C64, C128):
    close = 100 * CLOSE[dtype]
    good = _positive(2, 3, 3, dtype=dtype)
    bad = good.copy()
    bad[0, 0, 0] = -5
    lost = good.copy()
    lost[1, 1, 1] = np.nan
    singular = np.ones((2, 3, 3), dtype)
    for label, x in (("good", good), ("indefinite", bad), ("nan", lost), ("none", good[:0])):
        named("linalg.cholesky", x, label=label, close=close)
        named("linalg.cholesky", x, symmetrize_input=False, label=label, close=close)
    for label, x in (("good", good), ("singular", singular), ("zero", 0 * good), ("none", good[:0]),
                     ("wide", good[:, :2]), ("tall", good[:, :, :1])):  # fmt: skip
        named("linalg.lu", x, label=label, close=close)
        case(f"qr triangle {label} {dtype}",
             lambda lax, x: lax.abs(lax.linalg.qr(x, full_matrices=False)[1]), x,
             close=close if label != "singular" else 1e-4)  # fmt: skip
        case(f"singular values {label} {dtype}",
             lambda lax, x: lax.linalg.svd(x, compute_uv=False), x,
             close=close if label != "singular" else 1e-5)  # fmt: skip
    for label, x in (("good", good), ("nan", lost), ("none", good[:0])):
        case(f"eigenvalues {label} {dtype}", lambda lax, x: lax.linalg.eigh(x)[1], x, close=close)
        case(f"sum of eig {label} {dtype}",
             lambda lax, x: lax.reduce_sum(lax.linalg.eig(x, compute_left_eigenvectors=False,
                                                          compute_right_eigenvectors=False)[0], (1,)),
             x, close=close)  # fmt: skip
    for left, lower, conjugate in itertools.product((True, False), repeat=3):
        named("linalg.triangular_solve", good, normal(2, 3, 3, dtype=dtype, salt="b"), left_side=left,
              lower=lower, conjugate_a=conjugate, transpose_a=conjugate, close=close)  # fmt: skip
    named("linalg.triangular_solve", np.triu(singular - 1), good, left_side=True, label="singular")
