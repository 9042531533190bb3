"""Collect what backward rules log, for the caller of a pullback."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar
from typing import Any

from sagax._src.argument_checks.functions import kind_of
from sagax._src.core.trace import Trace, state
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.unsupported import UnsupportedError


class _Logs:
    __slots__ = ("found", "trace")

    def __init__(self, trace: Trace) -> None:
        self.found: dict[str, Any] = {}
        self.trace = trace


_current: ContextVar[_Logs | None] = ContextVar("sagax backward logs", default=None)


@contextlib.contextmanager
def collecting() -> Generator[dict[str, Any]]:
    """Collect the logs of rules that run in this context, in a dict."""
    logs = _Logs(state.trace)
    token = _current.set(logs)
    try:
        yield logs.found
    finally:
        _current.reset(token)


def are_collected() -> bool:
    """Return whether a caller collects logs: calls are then transposed in place."""
    return _current.get() is not None


def split(result: Any, rule: str) -> Any:
    """Return the cotangents of a rule that returns (cotangents, logs), and add its logs."""
    if not (isinstance(result, (tuple, list)) and len(result) == 2):
        raise ArgumentError(
            f"the rule {rule} must return a pair: the cotangents, and a dict of logs or None",
            function="defvjp_with_logs",
            argument=rule,
            got=kind_of(result),
            expected="(cotangents, logs)",
        )
    cotangents, logs = result
    add(logs, rule)
    return cotangents


def add(logs: Any, rule: str) -> None:
    """Add the logs of a rule, a dict or None."""
    if logs is None:
        return
    if not isinstance(logs, dict):
        raise ArgumentError.about(
            "defvjp_with_logs", f"logs of {rule}", kind_of(logs), "a dict or None"
        )
    current = _current.get()
    if current is None:
        return
    if state.trace is not current.trace:
        raise UnsupportedError(
            f"the rule {rule} logs inside of a loop or branch, where values do not outlive an iteration",
            function="defvjp_with_logs",
            fix="write the values to a reference that was created outside of it",
        )
    repeated = sorted(current.found.keys() & logs.keys())
    if repeated:
        raise ArgumentValueError(
            f"two backward rules log {repeated[0]!r}",
            function="defvjp_with_logs",
            argument=f"logs of {rule}",
            got=repr(repeated[0]),
            expected="names that no other rule logs",
        )
    current.found.update(logs)
