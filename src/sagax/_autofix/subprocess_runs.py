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
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import replace

import sagax._autofix.sandbox as sandbox
from sagax._autofix.forward_input import ForwardedInput
from sagax._autofix.run_script import run_task
from sagax._autofix.run_task import Outcome, Task

_CAN_FORK = sys.platform.startswith("linux")
_MAX_OUTPUT = 1 << 18  # compared; the rest is only shown


class _Child:
    """Manage one run: the pipe of its output, and the file of its outcome."""

    def __init__(self, task: Task, timeout: float, show: bool) -> None:
        self.task = task
        self.show = show
        self.started = time.monotonic()
        self.until = self.started + timeout
        self.output: list[bytes] = []
        self.kept = 0
        self.input = ForwardedInput() if show and _CAN_FORK else None
        handle, self.answer = tempfile.mkstemp(prefix="sagax-explain-")
        os.close(handle)
        self.reading, writing = os.pipe()
        self.pid = self._fork(writing) if _CAN_FORK else self._spawn(writing)
        os.close(writing)
        if self.input is not None:
            self.input.start()

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
            if not self.show:  # Ctrl-C ends the run that is shown
                os.setpgid(0, 0)
            os.close(self.reading)
            os.dup2(writing, 1)
            if not self.show:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.dup2(self._input(), 0)
            sys.stdin = open(
                0, encoding=sys.stdin.encoding if sys.stdin else "utf-8", closefd=False
            )
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
            write_outcome(self.task, self.answer)
            status = 0
        except Exception:  # of sagax: it ends this process only
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)  # the exit handlers belong to the parent

    def _input(self) -> int:
        """Return the standard input of the run: forwarded, or what was recorded before."""
        if self.input is not None:
            return self.input.take()
        recorded = tempfile.TemporaryFile()
        recorded.write(self.task.stdin)
        recorded.seek(0)
        return os.dup(recorded.fileno())

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
            stdin=None if self.show else subprocess.DEVNULL,
            stdout=writing,
            stderr=None if self.show else subprocess.DEVNULL,
        )
        self._process = process
        return process.pid

    def read(self) -> bool:
        """Read available output; return False at the end."""
        data = os.read(self.reading, 1 << 16)
        if data:
            if self.kept < _MAX_OUTPUT:
                self.output.append(data)
                self.kept += len(data)
            if self.show:
                sys.stdout.write(data.decode(errors="replace"))
                sys.stdout.flush()
        return bool(data)

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            if _CAN_FORK and self.show:
                os.kill(self.pid, signal.SIGKILL)
            elif _CAN_FORK:
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
        output = b"".join(self.output)[:_MAX_OUTPUT].decode(errors="replace")
        try:
            with open(self.answer, "rb") as file:
                found = pickle.load(file)
        except (EOFError, pickle.UnpicklingError):
            found = Outcome("crash" if in_time else "timeout")
        finally:
            os.unlink(self.answer)
        return replace(found, output=output, stdin=self.input.stop() if self.input else b"")


def write_outcome(task: Task, file: str) -> None:
    """Run a task and write its outcome to a file."""
    with open(file, "wb") as handle:  # opened outside of the sandbox
        if task.sandbox:
            sandbox.enter(sandboxed_folders(task.script))
        pickle.dump(run_task(task), handle)


def sandboxed_folders(script: str) -> list[str]:
    """Return the folders in which a sandboxed run may write, though that is forgotten."""
    folders = [
        os.getcwd(), os.path.dirname(os.path.abspath(script)), os.path.expanduser("~"), tempfile.gettempdir(),
    ]  # fmt: skip
    return [folder for folder in folders if os.path.isdir(folder)]


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
