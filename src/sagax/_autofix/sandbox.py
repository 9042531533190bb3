"""Run a process in a view of the file system that forgets what is written, without network (Linux).

Its folders are overlays: reads come from the real folder, writes go to memory. All else is read-only.
The view is made in namespaces of the process's own, for which Linux needs no privileges where user
namespaces are enabled.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Sequence

# of <sched.h>, <sys/mount.h> and <linux/mount.h>
_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_RECURSIVE, _PRIVATE = 0x4000, 0x40000
_MOUNT_SETATTR = 442  # the same number on all architectures since Linux 5.12
_AT_RECURSIVE, _READ_ONLY = 0x8000, 1

_MEMORY = "/dev/shm"  # where the sandbox has memory of its own


class SandboxError(OSError):
    """The system has no sandbox; the text says what is missing."""


def enter(folders: Sequence[str]) -> None:
    """Enter the sandbox, for the rest of this process, which must have one thread.

    Raises:
      SandboxError: the system does not allow it.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxError("it needs the namespaces of Linux")
    if "/" in map(os.path.realpath, folders):
        raise SandboxError("the root folder cannot be covered")
    here, user, group = os.getcwd(), os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)

    def call(what: str, result: int) -> None:
        if result:
            raise SandboxError(f"{what}: {os.strerror(ctypes.get_errno())}")

    call("namespaces", libc.unshare(_NEW_USER | _NEW_MOUNTS | _NEW_NETWORK))
    for name, text in (
        ("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1"),
    ):  # fmt: skip
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
    call("private mounts", libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None))
    attributes = struct.pack("4Q", _READ_ONLY, 0, 0, 0)
    call(
        "read-only mounts",
        libc.syscall(
            _MOUNT_SETATTR, -1, b"/", _AT_RECURSIVE, attributes, ctypes.c_size_t(len(attributes))
        ),
    )
    call("memory", libc.mount(b"tmpfs", os.fsencode(_MEMORY), b"tmpfs", 0, None))
    for i, folder in enumerate(_outermost(folders)):
        written, work = (os.path.join(_MEMORY, f".{name}{i}") for name in ("written", "work"))
        os.mkdir(written)
        os.mkdir(work)
        options = f"lowerdir={_escape(folder)},upperdir={written},workdir={work},userxattr"
        target = os.fsencode(folder)
        call(
            f"overlay of {folder}", libc.mount(b"overlay", target, b"overlay", 0, options.encode())
        )
    os.chdir(here)  # into the view


def _outermost(folders: Sequence[str]) -> list[str]:
    """Return the real paths of folders without those that lie in others."""
    found: list[str] = []
    for folder in sorted({os.path.realpath(f) for f in folders}):
        if not any(folder.startswith(outer.rstrip("/") + "/") for outer in found):
            found.append(folder)
    return found


def _escape(path: str) -> str:
    return path.replace("\\", "\\\\").replace(",", "\\,").replace(":", "\\:")


def reason_against(folders: Sequence[str]) -> str:
    """Return why the system has no sandbox, "" if it has one."""
    if not sys.platform.startswith("linux"):
        return "it needs the namespaces of Linux"
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            enter(folders)
        except OSError as error:
            os.write(writing, str(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return said
