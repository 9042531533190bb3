"""The error for what an operation does not do."""

from __future__ import annotations

from sagax._src.diagnostics.errors import SagaxError


class UnsupportedError(SagaxError, NotImplementedError):
    """What an operation does not do: on this platform, with these options, for this derivative."""

    code = "SX0124"
