"""Show how far running loops are, on one line of the terminal or of a notebook.

A loop asks after some iterations for how many more it runs until it asks again. The answer aims at ten
questions per second, whatever an iteration takes, so that asking costs nothing to speak of.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from sagax._src import config, fork_locks
from sagax._src.diagnostics.status_line import StatusLine, shows_updates
from sagax._src.diagnostics.wording import in_users_language, localized

_GOAL = 0.1  # seconds between two questions
_GROWTH = 64  # times as many iterations than before, at most: the first ones may have been quick
_DELAY = 0.5  # seconds that a loop may take without being shown
_EVERY = 0.2  # seconds between two updates
_LOST = 20  # times the expected time without a question: the loop failed
_WIDTH = 12  # characters of a bar
HIDDEN = -1  # the number of a run that nobody sees

_lock = fork_locks.lock()
_numbers = itertools.count(1)


class _Run:
    """A running loop. `share` is the part of `total` that one of its iterations stands for."""

    __slots__ = (
        "requested_at",
        "begun",
        "chunk",
        "done",
        "length",
        "name",
        "pace",
        "share",
        "total",
    )

    def __init__(self, name: str, length: int, total: int, now: float) -> None:
        self.name, self.length, self.total = name, length, total
        self.share = total / length if length else 1.0
        self.done = 0
        self.begun = self.requested_at = now
        self.chunk, self.pace = 1, 0.0  # pace: iterations per second

    @property
    def fraction(self) -> float:
        return min(self.done / self.length, 1.0) if self.length else 1.0

    @property
    def count(self) -> int:
        return min(round(self.done * self.share), self.total)

    @property
    def rate(self) -> float:
        """Iterations per second, until the last question."""
        return self.done / max(self.requested_at - self.begun, 1e-9)

    def text(self, now: float, *, alone: bool) -> str:
        """Describe the run, with a bar if nothing else is on the line."""
        full = int(self.fraction * _WIDTH)
        bar = f" [{'#' * full}{'.' * (_WIDTH - full)}]" if alone else ""
        parts = [
            f"{self.name} {self.fraction:4.0%}{bar} {self.count:,}/{self.total:,}",
            clock(now - self.begun),
        ]
        if self.done:
            left = (self.length - self.done) / self.rate - (now - self.requested_at)
            parts.append(in_users_language("{time} left", time=clock(max(left, 0.0))))
            if alone:
                parts.append(_per_second(self.rate * self.share))
        return localized(", ").join(parts)

    def summary(self, now: float) -> str:
        spent = now - self.begun
        rate = _per_second(self.count / max(spent, 1e-9))
        return localized(f"{self.name} took {spent:.1f} s: {self.count:,} iterations, {rate}")


class _Shown:
    """All runs that are shown, and the thread that shows them."""

    def __init__(self) -> None:
        self.runs: dict[int, _Run] = {}
        self.painter: _Painter | None = None
        self.process = os.getpid()


_shown = _Shown()


def clock(seconds: float) -> str:
    """Format a duration as 0:07, 12:34 or 1:02:03."""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02d}:{s:02d}" if hours else f"{m}:{s:02d}"


def _per_second(rate: float) -> str:
    shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
    return in_users_language("{rate}/s", rate=shown)


def _visible(stream: TextIO | None) -> bool:
    how = config.thread.settings.loop_progress
    if stream is None or how == "never":
        return False
    return how == "always" or shows_updates(stream)


class LoopBar:
    """Count the iterations of one loop of a program, in each of its runs.

    Args:
      name: what the line says of it.
      length: how many iterations `request` counts to.
      total: how many the user sees; None: the total that `request` gets.
    """

    __slots__ = ("_pace", "length", "name", "total")

    def __init__(self, name: str, length: int, total: int | None) -> None:
        self.name, self.length, self.total = name, length, total
        self._pace = 0.0  # of the last run

    def request(self, number: int, done: int, total: int) -> tuple[int, int]:
        """Note `done` more iterations of run `number` (0: a new one); return its number, and how many to run now.

        A `done` of -n - 1 says that these n iterations were the last.
        """
        if number == HIDDEN:
            return HIDDEN, self.length
        now = time.monotonic()
        with _lock:
            if number == 0:
                return self._begin(now, total)
            run = _shown.runs.get(number)
            if run is None:  # shown no more
                return HIDDEN, self.length
            run.done += max(done, -done - 1)
            spent = now - run.requested_at
            run.pace, run.requested_at = abs(done) / spent if spent > 0 else run.pace, now
            if done < 0 or run.done >= run.length:
                self._pace = run.pace
                _end(number, run, now)
                return HIDDEN, 1
            run.chunk = _next_chunk(run)
            return number, run.chunk

    def _begin(self, now: float, total: int) -> tuple[int, int]:
        stream = sys.stderr
        length = self.length if self.total is not None else total
        if length < 1 or not _visible(stream):
            return HIDDEN, self.length
        number = next(_numbers)
        run = _Run(self.name, length, total if self.total is None else self.total, now)
        run.pace = self._pace
        run.chunk = max(1, min(round(run.pace * _GOAL), length))
        if _shown.process != os.getpid():  # a fork took them along
            _shown.process, _shown.painter = os.getpid(), None
            _shown.runs.clear()
        _shown.runs[number] = run
        painter = _shown.painter
        if painter is None or painter.line.stream is not stream:
            _shown.painter = _Painter(stream)
            _shown.painter.start()
        return number, run.chunk


def _next_chunk(run: _Run) -> int:
    wanted = min(round(run.pace * _GOAL), run.chunk * _GROWTH)
    return max(1, min(wanted, run.length - run.done))


def _end(number: int, run: _Run, now: float) -> None:
    """End a run: a last line tells how long it took, unless it ran within another one."""
    outermost = next(iter(_shown.runs)) == number
    del _shown.runs[number]
    painter = _shown.painter
    if painter is not None and painter.is_drawn(run) and outermost:
        painter.finish(f"sagax: {run.summary(now)}")


class _Painter(threading.Thread):
    """Show the runs, until there have been none for a while."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(name="sagax loop progress", daemon=True)
        self.line = StatusLine(stream)
        self.rewrites = shows_updates(stream)  # else a line for each tenth
        self.drawn: set[_Run] = set()
        self.tenths: dict[_Run, int] = {}

    def is_drawn(self, run: _Run) -> bool:
        return run in self.drawn

    def finish(self, text: str) -> None:
        if self.rewrites:
            self.line.write(text, "\n")
        else:
            self._print(text)
        self.drawn.clear()
        self.tenths.clear()

    def run(self) -> None:
        idle = 0
        while True:
            time.sleep(_EVERY)
            with _lock:
                if _shown.painter is not self:  # stderr is another stream now
                    return
                self._paint(time.monotonic())
                idle = 0 if _shown.runs else idle + 1
                if idle == 10:
                    _shown.painter = None
                    return

    def _paint(self, now: float) -> None:
        for number, run in list(_shown.runs.items()):
            expected = max(_GOAL, run.chunk / run.pace) if run.pace else float("inf")
            if now - run.requested_at > 10 + _LOST * expected:
                del _shown.runs[number]
                self.finish(localized(f"sagax: {run.text(now, alone=True)}: ended early"))
        runs = [r for r in _shown.runs.values() if now - r.begun >= _DELAY]
        if not runs:
            return
        self.drawn.update(runs)
        if self.rewrites:
            inner = [f"{r.name} {r.fraction:.0%}" for r in runs[1:]]
            text = runs[0].text(now, alone=not inner)
            self.line.write(" | ".join([f"sagax: {text}", *inner]))
            return
        first = runs[0]
        tenth = int(first.fraction * 10)
        if tenth > self.tenths.get(first, 0):
            self.tenths[first] = tenth
            self._print(f"sagax: {first.text(now, alone=True)}")

    def _print(self, text: str) -> None:
        try:
            print(text, file=self.line.stream, flush=True)
        except (OSError, ValueError):
            _shown.runs.clear()


def iterate(name: str, numbers: range) -> Iterator[int]:
    """Yield the numbers of a loop that Python runs, and count them."""
    bar = LoopBar(name, len(numbers), len(numbers))
    number, chunk = bar.request(0, 0, len(numbers))
    done = 0
    try:
        for i in numbers:
            yield i
            done += 1
            if done == chunk or i == numbers[-1]:
                number, chunk = bar.request(number, done, len(numbers))
                done = 0
    finally:
        bar.request(number, -done - 1, len(numbers))
