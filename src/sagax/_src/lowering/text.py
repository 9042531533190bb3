"""Spell types and constants in StableHLO."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sagax._src.core import dims, dtypes
from sagax._src.core.avals import AbstractToken, intern_aval
from sagax._src.diagnostics.errors import ShapeError
from sagax._src.languages.choice import worded


@functools.cache
def element_type(dtype: Any) -> str:
    """Return MLIR's name of an element type: `f32`, `i1`, `ui8`, `complex<f32>`, `f8E4M3FN`."""
    kind = dtypes.kind(dtype)
    if kind == "b":
        return "i1"
    name = dtypes.name(dtype)
    if kind == "i":
        return "i" + name.removeprefix("int")
    if kind == "u":
        return "ui" + name.removeprefix("uint")
    if kind == "c":
        return "complex<f32>" if dtype.itemsize == 8 else "complex<f64>"
    if name == "bfloat16":
        return "bf16"
    if "_" in name:  # float8_e4m3fn -> f8E4M3FN
        width, form = name.removeprefix("float").split("_")
        return f"f{width}{form.upper()}"
    return "f" + name.removeprefix("float")


def physical(aval: Any) -> Any:
    """Return the type in which a value is stored: extended dtypes become arrays of their numbers, float0
    booleans.
    """
    dtype = aval.dtype
    if dtypes.is_extended(dtype):
        return intern_aval((*aval.shape, *dtype.physical_shape), dtype.physical_dtype, False, None)
    if dtype == dtypes.float0:
        return intern_aval(aval.shape, dtypes.bool_, False, None)
    return aval


_MAX_BYTES = 2**60  # the engine adds up sizes in 64 bits, and aborts where a sum overflows


def _check_bytes(shape: tuple, dtype: Any, count: int) -> None:
    size = count * max(dtypes.itemsize_bits(dtype) // 8, 1)
    if size > _MAX_BYTES:
        sizes = ", ".join(map(str, shape))
        raise ShapeError(
            f"an array of shape ({sizes}) and dtype {dtypes.name(dtype)} takes {size:.3g} bytes,"
            f" more than the {_MAX_BYTES:.3g} that the engine can count",
            fix="reduce its shape; nested scans stack what they keep, once for each length",
        )


@functools.lru_cache(maxsize=8192)
def tensor_type(shape: tuple, dtype: Any) -> str:
    """Format `tensor<3x?xf32>`; refuse sizes at which the engine would abort the process."""
    count = math.prod([s for s in shape if not dims.is_dim(s)])
    if count > _MAX_BYTES // 16:
        _check_bytes(shape, dtype, count)
    sizes = "".join(f"{'?' if dims.is_dim(s) else s}x" for s in shape)
    return f"tensor<{sizes}{element_type(dtype)}>"


def type_text(aval: Any) -> str:
    """Return the MLIR type of a value."""
    if isinstance(aval, AbstractToken):
        return "!stablehlo.token"
    aval = physical(aval)
    return tensor_type(aval.shape, aval.dtype)


def scalar_text(x: Any) -> str:
    """Format one number, exactly."""
    dtype = x.dtype
    kind = dtypes.kind(dtype)
    if kind == "b":
        return "true" if x else "false"
    if kind in "iu":
        return str(int(x))
    if kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return f"({scalar_text(part.type(x.real))}, {scalar_text(part.type(x.imag))})"
    bits = dtypes.itemsize_bits(dtype)
    raw = int(np.asarray(x).view(f"u{dtype.itemsize}")) & ((1 << bits) - 1)
    return f"0x{raw:0{max(bits // 4, 1)}X}"


def dense(x: np.ndarray) -> str:
    """Format the value of a constant, as `dense<...>`."""
    if x.size == 0:
        return "dense<>"
    first = x.reshape(-1)[0]
    if x.size == 1 or bool(
        np.all(
            x.reshape(-1).view(f"V{x.dtype.itemsize}")
            == np.asarray(first).view(f"V{x.dtype.itemsize}")
        )
    ):
        return f"dense<{scalar_text(first)}>"
    if dtypes.itemsize_bits(x.dtype) >= 8 and x.dtype != np.bool_:
        raw = np.ascontiguousarray(x).tobytes().hex().upper()
        return f'dense<"0x{raw}">'
    return f"dense<{_nested(x)}>"


def _nested(x: np.ndarray) -> str:
    return (
        "[" + ", ".join(_nested(row) if row.ndim else scalar_text(row[()]) for row in x) + "]"
        if x.ndim
        else scalar_text(x[()])
    )


def quote(text: str) -> str:
    """Format a string attribute."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    out = []
    for c in text:
        if c in '"\\':
            out.append("\\" + c)
        elif c.isprintable() and ord(c) < 128:
            out.append(c)
        else:
            out.extend(f"\\{byte:02X}" for byte in c.encode("utf-8", "surrogateescape"))
    return '"' + "".join(out) + '"'


def attribute_text(value: Any) -> str:
    """Format a Python value as an attribute: ints are i64, floats f64, NumPy scalars keep their dtype.

    Raises TypeError for a value without such a form.
    """
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if type(value) is float:
        value = np.float64(value)
    if isinstance(value, np.generic) and dtypes.kind(value.dtype) in "iuf":
        return f"{scalar_text(value)} : {element_type(value.dtype)}"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, np.dtype):
        return element_type(value)
    if isinstance(value, type) and issubclass(value, np.generic):
        return element_type(np.dtype(value))
    if isinstance(value, np.ndarray):
        return f"{dense(value)} : {tensor_type(value.shape, value.dtype)}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(attribute_text, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k} = {attribute_text(v)}" for k, v in value.items()) + "}"
    raise worded(TypeError(f"no attribute of a program can hold a {type(value).__name__}"))
