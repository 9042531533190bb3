"""Define the error and the warning of autojit."""

from __future__ import annotations

from sagax._src.diagnostics.errors import SagaxError


class AutojitError(SagaxError, TypeError):
    """A statement that depends on a traced value and cannot be converted."""

    code = "SX0242"


class AutojitWarning(UserWarning):
    """The statements that autojit with strict=True converted, and what they became."""


AutojitError.__module__ = AutojitWarning.__module__ = "sagax.errors"
