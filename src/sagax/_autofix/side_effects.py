"""Notice what a script does outside of its process: files, sockets, processes.

Trying a fix runs the script again. A script that writes files or sends data is run again only if the
user says so.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from sagax._src import runtime
from sagax._src.diagnostics.spans import display_path, is_user_file

_MAX_FOUND = 20
_RUNTIME = os.path.dirname(runtime.__file__) + os.sep
_CHANGES = {
    "os.remove": "removes", "os.rename": "renames", "os.rmdir": "removes", "os.mkdir": "makes",
    "os.truncate": "cuts", "os.link": "links", "os.symlink": "links", "shutil.rmtree": "removes",
    "shutil.move": "moves", "shutil.copyfile": "writes",
}  # fmt: skip
_PROCESSES = {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn"}
_SOCKETS = {"socket.connect", "socket.bind", "socket.sendto"}


def watch(found: list[str]) -> None:
    """Add a line to `found` for each effect of user code, for the rest of this process."""
    busy = False
    tempfile.gettempdir()  # finding it opens files, under a lock that the hook would wait for

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal busy
        if busy or len(found) >= _MAX_FOUND:
            return
        effect = _effect(event, arguments)
        if effect:
            busy = True  # finding the line reads files
            try:
                where = _user_line()
                line = f"{effect}{where}"
                if where and line not in found:
                    found.append(line)
            finally:
                busy = False

    sys.addaudithook(hook)


def _effect(event: str, arguments: tuple[Any, ...]) -> str:
    if event == "open":
        path, mode, flags = arguments
        writes = isinstance(mode, str) and any(letter in mode for letter in "wax+")
        if mode is None and isinstance(flags, int):
            writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        return f"writes {path}" if writes and _counts(path) else ""
    if event in _CHANGES:
        path = arguments[0]
        return f"{_CHANGES[event]} {path}" if _counts(path) else ""
    if event in _PROCESSES:
        return "starts a process"
    return "uses the network" if event in _SOCKETS else ""


def _counts(path: Any) -> bool:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False  # a descriptor: the file was counted when it was opened
    text = os.path.realpath(os.fsdecode(path))
    temporary = os.path.realpath(tempfile.gettempdir()) + os.sep
    folder = os.path.realpath(os.path.dirname(os.path.abspath(sys.argv[0])))
    if text.startswith(temporary) and not (text + os.sep).startswith(folder + os.sep):
        return False
    return not (text.startswith("/dev/") or "__pycache__" in text)


def _user_line() -> str:
    """Return ` (file:line)` of the innermost user code that is running, "" if there is none.

    What the runtime does by itself, such as writing its cache, is not the user's.
    """
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_RUNTIME):
            return ""
        if is_user_file(file) and os.path.exists(file):
            return f" ({display_path(file)}:{frame.f_lineno})"
        frame = frame.f_back
    return ""
