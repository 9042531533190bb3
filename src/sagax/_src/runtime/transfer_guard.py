"""Refuse or log transfers between host and devices, as `transfer_guard` asks.

A transfer is implicit unless the user asked for it with `device_put` or `device_get`. Numbers that stand
in the program, and arrays that a function captures, are parts of executables, and no transfers.
"""

from __future__ import annotations

import logging
from typing import Any

from sagax._src import config
from sagax._src.diagnostics.base import SagaxError, describe
from sagax._src.xla import EngineError

_log = logging.getLogger("sagax")


class DisallowedTransferError(SagaxError, EngineError):
    """A transfer that `transfer_guard` refuses."""

    code = "SX0216"


DisallowedTransferError.__module__ = "sagax.errors"  # its public module


def check_to_device(what: Any, explicit: bool) -> None:
    """Check a transfer of `what`, an operand in the memory of the host, to a device."""
    guard = config.thread.settings.transfer_guard_host_to_device
    _check("host-to-device", guard, what, explicit, "put it there first: x = sagax.device_put(x)")


def check_to_host(what: Any, explicit: bool) -> None:
    """Check a transfer of an array on a device to the memory of the host."""
    guard = config.thread.settings.transfer_guard_device_to_host
    _check("device-to-host", guard, what, explicit, "fetch it on purpose: sagax.device_get(x)")


def check_between_devices(what: Any, explicit: bool) -> None:
    """Check a transfer of an array from one device to another."""
    guard = config.thread.settings.transfer_guard_device_to_device
    fix = "move it on purpose: sagax.device_put(x, device)"
    _check("device-to-device", guard, what, explicit, fix)


def _check(direction: str, guard: str | None, what: Any, explicit: bool, fix: str) -> None:
    if guard is None or guard == "allow":
        return
    if guard.startswith("log"):
        if not explicit or guard == "log_explicit":
            kind = "explicit" if explicit else "implicit"
            _log.warning("%s %s transfer of %s", kind, direction, describe(what))
        return
    if explicit and guard != "disallow_explicit":
        return
    raise DisallowedTransferError(
        f"Disallowed {direction} transfer",
        got=what,
        fix=fix if not explicit else "leave the context of sagax.transfer_guard first",
    )
