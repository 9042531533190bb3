"""Work done on a thread of its own, and so with glibc in a heap of its own.

Compiling asks for very many small blocks and gives most of them back. In the heap that results of programs
come from, what is left between them makes each call of a program with a hundred results slower.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def aside(function: Callable[[], T]) -> T:
    """`function()`, under the settings of the caller, on another thread; its exception is raised here."""
    results: list[T] = []
    errors: list[BaseException] = []
    within = contextvars.copy_context()

    def work() -> None:
        try:
            results.append(within.run(function))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, name="sagax compiles")
    try:
        thread.start()
    except RuntimeError:  # the interpreter is about to end, or there are too many threads
        return function()
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()
