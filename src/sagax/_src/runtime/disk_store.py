"""Store bytes by key in files that only this user can write: bounded, shared by processes.

The stored bytes are run as machine code, so only trusted files count. The folder and its files belong to
this user and are not writable by others. Each file carries a keyed BLAKE2 of its name and contents, with a
secret that only this user can read. Any other file counts as missing, and the next write replaces it.

Files appear whole, by renaming, and are never changed, so processes need no locks. When their total size
exceeds the bound, the least recently used are removed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from sagax._src import fork_locks
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    import hashlib
    import hmac
    import json


_MAGIC = b"sagax program 1\n"
_CODE_BYTES = 32
_SECRET = "secret"
_SECRET_BYTES = 64
_SUFFIX = ".program"
_HOUR = 3600.0
# A process that was killed while writing leaves a temporary file; no write takes this long.
_ABANDONED = _HOUR
# Eviction shrinks to this fraction of the bound, so that not every write has to scan.
_TRIMMED = 0.8
_counter = itertools.count()


class Refused(Exception):
    """A file or folder exists but cannot be trusted; the message tells why."""


class Entry(NamedTuple):
    """A stored entry: facts as JSON has them, and bytes."""

    facts: dict[str, Any]
    payload: bytes


class Summary(NamedTuple):
    """Summarize a store: the number of entries, and their size in bytes."""

    count: int
    size: int


class Store:
    """Store entries in one folder.

    Methods raise OSError if the folder is not usable, and Refused if others could write it.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._lock = fork_locks.lock()
        self._unseen = 0  # bytes written since the last scan of the entries

    # -- entries --------------------------------------------------------------------------------------

    def read(self, key: str) -> Entry | None:
        """Read the entry of that key, or None. Raises Refused for an untrusted file."""
        try:
            with self._opened() as at:
                return self._read(at, key)
        except FileNotFoundError:
            return None

    def write(self, key: str, facts: dict[str, Any], payload: bytes, bound: int) -> None:
        """Store an entry, replacing the one of its key; then evict some if all exceed `bound` bytes."""
        os.makedirs(os.path.dirname(self.folder), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.folder, 0o700)
        header = json.dumps(facts, separators=(",", ":")).encode()
        body = len(header).to_bytes(4, "little") + header + payload
        with self._opened() as at:
            code = self._code(self._key_bytes(at, make=True), key, body)
            _put(at, key + _SUFFIX, _MAGIC + code + body)
            self._bounded(at, len(body), bound)

    def remove(self, key: str) -> None:
        """Remove the entry of that key, if there is one."""
        with contextlib.suppress(FileNotFoundError), self._opened() as at:
            os.unlink(key + _SUFFIX, dir_fd=at)

    def clear(self) -> Summary:
        """Remove all entries; return their number."""
        try:
            with self._opened() as at:
                found = _entries(at)
                for _, name, _ in found:
                    _unlink(at, name)
                return Summary(len(found), sum(size for *_, size in found))
        except FileNotFoundError:
            return Summary(0, 0)

    def summary(self) -> Summary:
        """Return the number and size of the entries."""
        try:
            with self._opened() as at:
                found = _entries(at)
        except FileNotFoundError:
            return Summary(0, 0)
        return Summary(len(found), sum(size for *_, size in found))

    def facts(self) -> Iterator[dict[str, Any]]:
        """Read the facts of all entries, without a check of their payloads: for explanations only."""
        try:
            with self._opened() as at:
                for _, name, _ in reversed(_entries(at)):
                    with contextlib.suppress(Refused, FileNotFoundError):
                        yield _facts(_contents(at, name, limit=1 << 16))
        except FileNotFoundError:
            return

    # -- trust --------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the folder: a later rename of its path has no effect on the descriptor."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        at = os.open(self.folder, flags)
        try:
            _check_ours(os.fstat(at), self.folder)
            yield at
        finally:
            os.close(at)

    def _read(self, at: int, key: str) -> Entry | None:
        name = key + _SUFFIX
        raw = _contents(at, name, touch=True)
        secret = self._key_bytes(at, make=False)
        start = len(_MAGIC) + _CODE_BYTES
        if len(raw) < start + 4 or not raw.startswith(_MAGIC):
            raise Refused(f"{name} is not complete, or of another kind")
        body = raw[start:]
        if not hmac.compare_digest(raw[len(_MAGIC) : start], self._code(secret, key, body)):
            raise Refused(f"{name} was damaged, or not written by this user")
        return Entry(_facts(raw), body[4 + int.from_bytes(body[:4], "little") :])

    @staticmethod
    def _code(secret: bytes, key: str, body: bytes) -> bytes:
        code = hashlib.blake2b(key=secret, digest_size=_CODE_BYTES)
        code.update(key.encode())
        code.update(body)
        return code.digest()

    @staticmethod
    def _key_bytes(at: int, *, make: bool) -> bytes:
        """Return the secret of this folder; with `create` a new one, if there is none that can be trusted."""
        try:
            found = _contents(at, _SECRET, private=True)
            if len(found) == _SECRET_BYTES:
                return found
        except FileNotFoundError:
            if make:  # of concurrent processes one creates it
                with contextlib.suppress(FileExistsError):
                    _put(at, _SECRET, os.urandom(_SECRET_BYTES), exclusive=True)
                return Store._key_bytes(at, make=False)
            raise
        except Refused:
            if not make:
                raise
        if not make:
            raise Refused("the secret of the folder is not complete")
        _put(at, _SECRET, os.urandom(_SECRET_BYTES))
        return Store._key_bytes(at, make=False)

    # -- the bound ------------------------------------------------------------------------------------

    def _bounded(self, at: int, written: int, bound: int) -> None:
        if bound < 0:
            return
        with self._lock:
            # One process in eight scans at its first write, for the case of many processes that each write
            # little.
            first = self._unseen == 0 and os.urandom(1)[0] < 32
            self._unseen += written
            if not first and self._unseen < bound // 16:
                return
            self._unseen = 1
        entries = _entries(at)
        total = sum(size for *_, size in entries)
        if total <= bound:
            return
        entries.sort()
        for _, name, size in entries:
            if total <= bound * _TRIMMED:
                break
            _unlink(at, name)
            total -= size


def _check_ours(found: os.stat_result, name: str) -> None:
    if found.st_uid != os.geteuid():
        raise Refused(f"{name} belongs to another user")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(f"{name} can be written by other users")


def _contents(
    at: int, name: str, *, touch: bool = False, private: bool = False, limit: int = -1
) -> bytes:
    """Read a trusted file."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Refused(f"{name} cannot be read: {error.strerror}") from None
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{name} is no file")
        _check_ours(found, name)
        if private and found.st_mode & (stat.S_IRGRP | stat.S_IROTH):
            raise Refused(f"{name} can be read by other users")
        if touch and abs(time.time() - found.st_mtime) > _HOUR:  # of a clock that was ahead, too
            with contextlib.suppress(
                OSError
            ):  # on a read-only file system nothing is evicted either
                os.utime(handle)
        return file.read(limit)


def _facts(raw: bytes) -> dict[str, Any]:
    start = len(_MAGIC) + _CODE_BYTES
    size = int.from_bytes(raw[start : start + 4], "little")
    try:
        return json.loads(raw[start + 4 : start + 4 + size])
    except ValueError:
        raise Refused("its header cannot be read") from None


def _put(at: int, name: str, contents: bytes, *, exclusive: bool = False) -> None:
    """Write a file atomically; with `exclusive` raise FileExistsError if it exists."""
    passing = f".{os.getpid()}.{threading.get_ident()}.{next(_counter)}.{name[:16]}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    try:
        handle = os.open(passing, flags, 0o600, dir_fd=at)
    except FileExistsError:  # of a killed process with this id
        os.unlink(passing, dir_fd=at)
        handle = os.open(passing, flags, 0o600, dir_fd=at)
    try:
        with open(handle, "wb") as file:
            file.write(contents)
        if exclusive:
            os.link(passing, name, src_dir_fd=at, dst_dir_fd=at)
            os.unlink(passing, dir_fd=at)
        else:
            os.replace(passing, name, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        _unlink(at, passing)
        raise


def _unlink(at: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another process was quicker
        os.unlink(name, dir_fd=at)


def _entries(at: int) -> list[tuple[float, str, int]]:
    """List the last use, name and size of each entry. Removes the leftovers of killed processes."""
    found, now = [], time.time()
    with os.scandir(at) as files:
        for file in files:
            with contextlib.suppress(FileNotFoundError):
                if file.name.endswith(_SUFFIX) and not file.name.startswith("."):
                    about = file.stat(follow_symlinks=False)
                    found.append((about.st_mtime, file.name, about.st_size))
                elif file.name.startswith("."):
                    if now - file.stat(follow_symlinks=False).st_mtime > _ABANDONED:
                        _unlink(at, file.name)
    return found
