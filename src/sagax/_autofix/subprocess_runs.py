"""Run the user's script in child processes.

Where the system can fork, children start in milliseconds with sagax imported. No device has been
initialized then, so that the fork is safe. Elsewhere a new interpreter starts.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace

from sagax._autofix.run_script import run_task
from sagax._autofix.run_task import Outcome, Task

_CAN_FORK = sys.platform.startswith("linux")
_MAX_OUTPUT = 4 << 20


class _Child:
    """Manage one run: the pipe of its output, and the file of its outcome."""

    def __init__(self, task: Task, timeout: float, show: bool) -> None:
        self.task = task
        self.show = show
        self.started = time.monotonic()
        self.until = self.started + timeout
        self.output: list[bytes] = []
        handle, self.answer = tempfile.mkstemp(prefix="sagax-explain-")
        os.close(handle)
        self.reading, writing = os.pipe()
        self.pid = self._fork(writing) if _CAN_FORK else self._spawn(writing)
        os.close(writing)

    def _fork(self, writing: int) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of NumPy's, idle
            pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            os.setpgid(0, 0)
            os.close(self.reading)
            os.dup2(writing, 1)
            if not self.show:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
            write_outcome(self.task, self.answer)
            status = 0
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)  # the exit handlers belong to the parent

    def _spawn(self, writing: int) -> int:
        request = self.answer + ".task"
        with open(request, "wb") as file:
            pickle.dump(self.task, file)
        code = (
            "from sagax._autofix.subprocess_runs import read_task_and_run; "
            f"read_task_and_run({request!r}, {self.answer!r})"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=None if self.show else subprocess.DEVNULL,
        )
        self._process = process
        return process.pid

    def read(self) -> bool:
        """Read available output; return False at the end."""
        data = os.read(self.reading, 1 << 16)
        if data:
            if sum(map(len, self.output)) < _MAX_OUTPUT:
                self.output.append(data)
            if self.show:
                sys.stdout.write(data.decode(errors="replace"))
                sys.stdout.flush()
        return bool(data)

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            if _CAN_FORK:
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def outcome(self, in_time: bool) -> Outcome:
        os.close(self.reading)
        if not in_time:
            self.kill()
        if _CAN_FORK:
            os.waitpid(self.pid, 0)
        else:
            self._process.wait()
        output = b"".join(self.output).decode(errors="replace")
        try:
            with open(self.answer, "rb") as file:
                found = pickle.load(file)
        except (EOFError, pickle.UnpicklingError):
            found = Outcome("crash" if in_time else "timeout")
        finally:
            os.unlink(self.answer)
        return replace(found, output=output)


def write_outcome(task: Task, file: str) -> None:
    """Run a task and write its outcome to a file."""
    outcome = run_task(task)
    with open(file, "wb") as handle:
        pickle.dump(outcome, handle)


def read_task_and_run(request: str, file: str) -> None:
    """Run a task that is read from a file."""
    with open(request, "rb") as handle:
        task = pickle.load(handle)
    os.unlink(request)
    write_outcome(task, file)


def run(task: Task, timeout: float, show: bool = False) -> Outcome:
    """Run one task; with `show`, forward its output as it comes."""
    return run_all([task], timeout, show)[0]


def run_all(tasks: Sequence[Task], timeout: float, show: bool = False) -> list[Outcome]:
    """Run tasks in parallel."""
    children = [_Child(task, timeout, show) for task in tasks]
    ended: dict[int, bool] = {}
    with selectors.DefaultSelector() as ready:
        for i, child in enumerate(children):
            ready.register(child.reading, selectors.EVENT_READ, i)
        while ready.get_map():
            now = time.monotonic()
            waiting = [c.until for i, c in enumerate(children) if i not in ended]
            events = ready.select(max(0.0, min(waiting) - now))
            for key, _ in events:
                if not children[key.data].read():
                    ready.unregister(key.fd)
                    ended[key.data] = True
            now = time.monotonic()
            for i, child in enumerate(children):
                if i not in ended and now >= child.until:
                    ready.unregister(child.reading)
                    ended[i] = False
    return [child.outcome(ended[i]) for i, child in enumerate(children)]
