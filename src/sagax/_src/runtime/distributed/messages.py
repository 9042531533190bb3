"""Check the messages between processes before they are believed: kind, types, ranges, size, secret.

A message is a line of JSON. Process 0 begins each connection with a challenge; the first message of the other side
proves by it that it knows the secret of the job, if there is one.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import time
from typing import TYPE_CHECKING, Any

from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING:
    from asyncio import StreamReader as Reader
    from asyncio import StreamWriter as Writer

if TYPE_CHECKING or lazy_imports():
    import asyncio
    import json

VERSION = 2
SECRET_VARIABLE = "SAGAX_COORDINATOR_SECRET"
REQUEST_LIMIT = 1 << 13  # bytes of a message to process 0
REPLY_LIMIT = (
    1 << 22
)  # bytes of a message from process 0: one with the names of thousands of processes
_UNSENT_LIMIT = 1 << 20  # bytes that wait for a process that does not read
_TEXT_LIMIT = 2000  # characters of names and reasons
_CLOSE_TIMEOUT = 2.0  # seconds to send the last messages of a process that ends
_LOGGED = 3  # refusals for one reason in the log before they are counted only
_REASONS_LIMIT = 64

_log = logging.getLogger("sagax")

# The fields of each message to process 0, with the type and the greatest value or length.
REQUESTS: dict[str, dict[str, tuple[type, int]]] = {
    "hello": {
        "version": (int, 1 << 31),
        "process": (int, 1 << 31),
        "count": (int, 1 << 31),
        "proof": (str, 64),
    },
    "store": {"version": (int, 1 << 31), "proof": (str, 64)},
    "alive": {},
    "arrived": {"at": (str, _TEXT_LIMIT)},
    "preempted": {},
    "calls": {"calls": (int, 1 << 53)},
    "leaving": {},
    "failed": {"text": (str, _TEXT_LIMIT)},
}


class MessageError(Exception):
    """Data from a connection is no message of another process of the job."""


def send(writer: Writer, message: dict[str, Any]) -> None:
    """Send a message; end the connection of a receiver that reads nothing."""
    if writer.is_closing():
        return
    if writer.transport.get_write_buffer_size() > _UNSENT_LIMIT:
        writer.transport.abort()
        return
    writer.write(json.dumps(message).encode() + b"\n")


def shortened(text: str) -> str:
    """Return a name or a reason, cut to the length that a message may hold."""
    return text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 3] + "..."


async def receive(reader: Reader) -> dict[str, Any] | None:
    """Receive the next message; None at the end of the connection. Raises MessageError for other data."""
    try:
        line = await reader.readline()
    except OSError:
        return None
    except ValueError:
        raise MessageError("a line that is too long") from None
    if not line.endswith(b"\n"):
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise MessageError("a line that is no JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("say"), str):
        raise MessageError("JSON that is no message")
    return message


async def receive_request(reader: Reader) -> dict[str, Any] | None:
    """Receive the next message to process 0, and check it."""
    message = await receive(reader)
    if message is None:
        return None
    kind = message["say"]
    fields = REQUESTS.get(kind)
    if fields is None:
        raise MessageError(f"an unknown message {kind[:40]!r}")
    if unknown := message.keys() - fields.keys() - {"say"}:
        raise MessageError(f"a message {kind!r} with the field {min(unknown)[:40]!r}")
    for name, (wanted, limit) in fields.items():
        value: Any = message.get(name)
        if type(value) is not wanted:
            raise MessageError(f"a message {kind!r} whose {name} is no {wanted.__name__}")
        if not 0 <= (value if isinstance(value, int) else len(value)) <= limit:
            raise MessageError(f"a message {kind!r} whose {name} is out of range")
    return message


def proof(secret: str, challenge: str, kind: str) -> str:
    """Return what answers a challenge by one who knows the secret; "" without a secret."""
    if not secret:
        return ""
    text = f"{challenge} {kind}".encode()
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


async def close(writer: Writer) -> None:
    """Send what was written, and end the connection."""
    with contextlib.suppress(OSError, TimeoutError):
        await asyncio.wait_for(writer.drain(), _CLOSE_TIMEOUT)
    writer.close()


class RefusalLog:
    """Log who was refused and why: the first of each reason, and then how many there were, once a minute."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._total = 0
        self._reported = time.monotonic()
        self.reasons: dict[int, str] = {}  # of processes whose first message was understood

    def add(self, writer: Writer, reason: str, number: int | None = None) -> None:
        peer = writer.get_extra_info("peername")
        address = str(peer[0]).removeprefix("::ffff:") if peer else "a closed connection"
        if number is not None and len(self.reasons) < _REASONS_LIMIT:
            self.reasons[number] = reason
        self._total += 1
        known = self._counts.get(reason, 0)
        if known or len(self._counts) < _REASONS_LIMIT:
            self._counts[reason] = known + 1
            if known < _LOGGED:
                _log.warning("refused a connection from %s: %s", address, reason)
                return
        if time.monotonic() - self._reported > 60:
            self._reported = time.monotonic()
            text = "refused %d connections so far, the last one from %s: %s"
            _log.warning(text, self._total, address, reason)
