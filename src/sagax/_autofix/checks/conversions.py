"""Find conversions that change numbers: fractions that fill integers, and integers that lose their high bits."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._autofix.checks.report import Add, direct_caller
from sagax._src import config
from sagax._src.core.dtypes import DtypeTruncationWarning
from sagax._src.core.trace import Tracer
from sagax._src.diagnostics.spans import span_at

__all__ = ["SCATTER_CAST", "cut_integers", "watch_conversions"]

SCATTER_CAST = "scatter inputs have incompatible types"


def watch_conversions(package: types.ModuleType, add: Add) -> None:
    """Check `full_like`, and the functions that make arrays of integers in 64 bits."""

    def report(message: str) -> None:
        found = direct_caller()
        if found is not None:
            add(DtypeTruncationWarning, message, None, span=span_at(found[1]))

    def full_like(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(a: Any, fill_value: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
            kind = getattr(getattr(a, "dtype", None), "kind", "")
            if dtype is None and kind in ("i", "u") and _is_cut(fill_value):
                report(
                    f"{fill_value} becomes {int(fill_value)} in an array of {a.dtype}, the dtype of "
                    f"the array that it is like: give a dtype"
                )
            return real(a, fill_value, dtype, *args, **kwargs)

        return call

    def array(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(x: Any, *args: Any, **kwargs: Any) -> Any:
            if not args and kwargs.get("dtype") is None and isinstance(x, (np.ndarray, np.generic)):
                if message := cut_integers(np.asarray(x)):
                    report(message)
            return real(x, *args, **kwargs)

        return call

    numpy = package.__dict__["numpy"]
    for module, name, wrap in (
        (numpy, "full_like", full_like),
        (package.__dict__["lax"], "full_like", full_like),
        (numpy, "asarray", array),
        (numpy, "array", array),
        (package, "device_put", array),
    ):
        real = getattr(module, name)
        wrapped = wrap(real)
        wrapped.__name__, wrapped.__doc__, wrapped.__module__ = name, real.__doc__, real.__module__
        wrapped.__wrapped__ = real  # type: ignore[attr-defined]
        setattr(module, name, wrapped)


def _is_cut(value: Any) -> bool:
    """Return whether a number is not whole."""
    if isinstance(value, Tracer) or np.ndim(value) or not isinstance(value, (float, np.floating)):
        return False
    return bool(np.isfinite(value)) and float(value) != int(value)


def cut_integers(x: np.ndarray) -> str:
    """Return the message for integers that 32 bits cannot hold; "" if there are none."""
    if config.current().x64 or x.dtype not in (np.int64, np.uint64) or not x.size:
        return ""
    limits = np.iinfo(np.int32 if x.dtype == np.int64 else np.uint32)
    worst = max((int(x.max()), int(x.min())), key=abs)
    if limits.min <= int(x.min()) and int(x.max()) <= limits.max:
        return ""
    kept = np.asarray(worst, x.dtype).astype(limits.dtype)
    return f"{worst} does not fit {limits.dtype}, and becomes {kept}: subtract an offset before, or turn 64 bits on"
