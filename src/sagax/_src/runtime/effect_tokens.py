"""Track executions with side effects that may still be running."""

from __future__ import annotations

import atexit
import collections
import threading
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src import fork_locks, xla
from sagax._src.callbacks import active_calls
from sagax._src.runtime import callback_deadlock, devices

_LIMIT = 64  # executables that run ahead of a blocked caller, which waits for the oldest
_tokens: collections.deque[Any] = collections.deque()
_lock = fork_locks.lock()


def run(
    executable: xla.executable.Executable, effects: frozenset
) -> Callable[[Sequence[Any]], list]:
    """Wrap the run of an executable with side effects, so that `effects_barrier` waits for it.

    With ordered effects the run blocks, so that the next one begins after it.
    """
    ordered = any(e.ordered for e in effects)
    start = executable.run_with_token

    def run_and_note(buffers: Sequence[Any]) -> list:
        outs, token = start(buffers)
        if ordered:
            _wait(token)
        else:
            inside = (
                active_calls.innermost_call() is not None
            )  # the oldest may be the executable of this callback
            with _lock:
                _tokens.append(token)
                oldest = _tokens.popleft() if len(_tokens) > _LIMIT and not inside else None
            if oldest is not None:
                _wait(oldest)
        return outs

    return run_and_note


def forget() -> None:
    """Drop all tokens: in a forked process, whose parent runs the executables."""
    _tokens.clear()


def _wait(token: Any) -> None:
    if active_calls.innermost_call() is not None:
        _wait_in_callback(token)
    try:
        token.block_until_ready()
    except xla.EngineError as error:
        failure = xla.original_error(error)
        raise failure from failure.__cause__


def _wait_in_callback(token: Any) -> None:
    """Wait inside a callback, but not for its own executable."""
    ended = threading.Event()

    def wait() -> None:
        try:
            token.block_until_ready()
        except xla.EngineError:
            pass  # waiting for the token raises it
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    callback_deadlock.until(ended.is_set)


def effects_barrier() -> None:
    """Wait until the side effects of all executables started so far have happened.

    Raises a callback's exception; CallbackDeadlockError inside of a callback.

    >>> sagax.jit(lambda x: sagax.debug.print("x = {}", x))(1.5)
    x = 1.5
    >>> sagax.effects_barrier()
    """
    callback_deadlock.refuse("effects_barrier")
    while True:
        with _lock:
            if not _tokens:
                return
            token = _tokens.popleft()
        _wait(token)


@atexit.register
def _finish() -> None:
    """Let side effects happen, and then the process end while other threads still work."""
    try:
        effects_barrier()
    finally:
        xla.process_end.prepare(backend.client for backend in devices.started_backends())
