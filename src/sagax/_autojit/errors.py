"""What autojit says when it cannot convert something."""

from __future__ import annotations

from sagax._src.diagnostics.errors import SagaxError


class AutojitError(SagaxError, TypeError):
    """A statement that depends on a traced value and cannot be converted."""

    code = "SX0242"


class AutojitWarning(UserWarning):
    """What autojit with strict=True tells: which statements were converted, and into what."""


AutojitError.__module__ = AutojitWarning.__module__ = "sagax.errors"
