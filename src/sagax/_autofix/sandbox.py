"""Run a process in a view of its folders that forgets what is written, without network (Linux).

The view is an overlay: reads come from the real folder, writes go to memory. It is made in namespaces
of the process's own, for which Linux needs no privileges where user namespaces are enabled.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Sequence

# of <sched.h> and <sys/mount.h>
_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_RECURSIVE, _PRIVATE = 0x4000, 0x40000


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
    memory = os.path.join(tempfile.gettempdir(), f"sagax-sandbox-{user}")
    os.makedirs(memory, exist_ok=True)  # empty for all but this process
    call("memory", libc.mount(b"tmpfs", os.fsencode(memory), b"tmpfs", 0, None))
    for i, folder in enumerate(_outermost(folders)):
        written, work = (os.path.join(memory, f"{name}{i}") for name in ("written", "work"))
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
