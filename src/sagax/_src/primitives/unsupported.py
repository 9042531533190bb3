"""Define the error for unsupported operations."""

from __future__ import annotations

from sagax._src.diagnostics.errors import SagaxError


class UnsupportedError(SagaxError, NotImplementedError):
    """An operation is not supported: on this platform, with these options, or for this derivative."""

    code = "SX0124"
