"""Evaluate changed texts of an expression in the frame in which a run has failed."""

from __future__ import annotations

import contextlib
import io
import signal
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from sagax._autofix.collect_facts import measure_value
from sagax._autofix.repairs.case import NOT_EVALUATED, Measurement, Question
from sagax._src.core.trace import Tracer
from sagax._src.diagnostics.model import Span

_SECONDS = 3.0  # of the processor, as all others here
_SECONDS_EACH = 0.5  # a call that led to the failure may train a model
_MAX_DEPTH = 4


def evaluate_edits(error: BaseException, wanted: Sequence[Question]) -> dict[Question, Measurement]:
    """Return the values of the texts that can be evaluated, in the frame of their expression.

    Those for which there was no time have a value of the kind `NOT_EVALUATED`.
    """
    frames = list(traceback.walk_tb(error.__traceback__))[::-1]
    found: dict[Question, Measurement] = {}
    until = time.process_time() + _SECONDS
    names: dict[Span, tuple[dict[str, Any], dict[str, Any]] | None] = {}
    for question in wanted:
        if time.process_time() > until:
            found[question] = Measurement(NOT_EVALUATED)
            continue
        at = question.span
        if at not in names:
            names[at] = _names(frames, at)
        known = names[at]
        if known is None:
            continue
        with (
            contextlib.suppress(Exception),  # most texts do not fit
            _limited(_SECONDS_EACH),
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error", UserWarning)  # what warns is no repair
            code = compile(f"(\n{question.text}\n)", "<edit>", "eval")
            found[question] = measure_value(eval(code, known[0], dict(known[1])))
    return found


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the main thread after some time of the processor, where the system can."""
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _names(
    frames: Sequence[tuple[FrameType, int]], at: Span
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the variables of the innermost frame that was within a span."""
    for frame, line in frames:
        if frame.f_code.co_filename == at.file and at.line <= line <= at.end_line:
            known = {k: _concrete(v) for k, v in frame.f_locals.items()}
            # a comprehension or a lambda within the text sees globals only
            return {**frame.f_globals, **known}, known
    return None


def _concrete(value: Any, depth: int = 0) -> Any:
    """Return a value with its numbers in place of tracers, whose transformation has ended."""
    if isinstance(value, Tracer):
        number = value.concrete()
        return value if number is None else number
    if depth < _MAX_DEPTH and type(value) in (list, tuple):
        return type(value)(_concrete(v, depth + 1) for v in value)
    if depth < _MAX_DEPTH and type(value) is dict:
        return {k: _concrete(v, depth + 1) for k, v in value.items()}
    return value
