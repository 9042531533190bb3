"""Define the unsupported names of lax; each raises and names an alternative."""

from __future__ import annotations

from typing import Any, NoReturn

from sagax._src.primitives.unsupported import UnsupportedError


def psend(x: Any, axis_name: Any, perm: Any) -> NoReturn:
    """Raise UnsupportedError: there are no one-sided messages. `ppermute` sends and receives.

    >>> try:
    ...     lax.psend(1.0, "i", [(0, 1)])
    ... except NotImplementedError:
    ...     print("not supported")
    not supported
    """
    raise UnsupportedError(
        "sending without receiving is not supported",
        function="psend",
        fix=f"use lax.ppermute(x, {axis_name!r}, perm), which does both",
    )


def precv(token: Any, out_shape: Any, axis_name: Any, perm: Any) -> NoReturn:
    """Raise UnsupportedError: there are no one-sided messages. `ppermute` sends and receives.

    >>> try:
    ...     lax.precv(None, 1.0, "i", [(0, 1)])
    ... except NotImplementedError:
    ...     print("not supported")
    not supported
    """
    raise UnsupportedError(
        "receiving without sending is not supported",
        function="precv",
        fix=f"use lax.ppermute(x, {axis_name!r}, perm), which does both",
    )
