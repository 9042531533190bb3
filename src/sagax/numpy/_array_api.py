"""Implement the array API standard's version and inspection object."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.core import dtypes
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.runtime import devices

__array_api_version__ = "2025.12"

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}
_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
).split()


class __array_namespace_info__:
    """Inspect the namespace by the array API standard: capabilities, devices, dtypes.

    >>> snp.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float32')
    """

    __module__ = "sagax.numpy"

    def capabilities(self) -> dict[str, Any]:
        """Return the supported features: no boolean masks and no data-dependent shapes, because of tracing."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> None:
        """Return None: arrays are on the default device unless one is requested."""
        return None

    def devices(self) -> list[Any]:
        """Return the values of `device`: None (the default device) and all devices."""
        return [None, *devices.devices()]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """Return the default dtypes of numbers and of indices; they depend on the option x64."""
        self._check_device(device)
        x64 = _base.x64()
        return {
            "real floating": dtypes.default_float(x64),
            "complex floating": dtypes.default_complex(x64),
            "integral": dtypes.default_int(x64),
            "indexing": dtypes.default_int(x64),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """Return the available dtypes of the standard, of the given kind (or kinds, a tuple)."""
        self._check_device(device)
        wanted = _letters(kind)
        x64 = _base.x64()
        found = [np.dtype(name) for name in _NAMES]
        return {
            str(d): d
            for d in found
            if dtypes.kind(d) in wanted and dtypes.canonicalize(d, x64) == d
        }

    def _check_device(self, device: Any) -> None:
        if device not in self.devices():
            raise ArgumentValueError.about(
                "__array_namespace_info__", "device", device, "None or one of sagax.devices()"
            )


def _letters(kind: Any) -> str:
    if kind is None:
        return "biufc"
    if isinstance(kind, tuple):
        return "".join([_letters(k) for k in kind])
    if kind not in _KINDS:
        raise ArgumentError(
            function="__array_namespace_info__.dtypes",
            argument="kind",
            got=repr(kind),
            expected=f"one of {', '.join(map(repr, _KINDS))}, or a tuple of them",
        )
    return _KINDS[kind]
