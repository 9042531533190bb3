"""Find the Python exception behind an error of XLA."""

from __future__ import annotations

import itertools
import re
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_numbers = itertools.count()
_callback_exceptions: OrderedDict[int, BaseException] = OrderedDict()
# An exception keeps its frames alive, and it may never be looked up.
_MAX_CALLBACK_EXCEPTIONS = 16

# Finds the error to raise for an error of XLA, while several processes run.
_explain: Callable[[BaseException], BaseException] | None = None


# Says more of an error of a device, given the executable where it is known.
_explain_device: Callable[[BaseException, object], BaseException] | None = None


def set_explain_device(explain: Callable[[BaseException, object], BaseException]) -> None:
    """Set the function that finds the error to raise where a device failed."""
    global _explain_device
    _explain_device = explain


def set_explain(explain: Callable[[BaseException], BaseException] | None) -> None:
    """Set the function that finds the error to raise for one of XLA's; None: the error itself."""
    global _explain
    _explain = explain


def record_callback_exception(error: BaseException) -> str:
    """Keep an exception, and return the text that refers to it in XLA's error message."""
    number = next(_numbers)
    _callback_exceptions[number] = error
    while len(_callback_exceptions) > _MAX_CALLBACK_EXCEPTIONS:
        _callback_exceptions.popitem(last=False)
    return f"sagax-callback-failure-{number}"


def original_error(error: BaseException, executable: object = None) -> BaseException:
    """Return the exception of the Python callback that made XLA fail; else what is known of the device's failure.

    XLA passes on an exception's text only: the text refers to the recorded exception.
    """
    found = re.search(r"sagax-callback-failure-(\d+)", str(error))
    if found:
        return _callback_exceptions.get(int(found[1]), error)
    lost = _raised_on_the_way(str(error))
    if lost is not None:
        return lost
    found = error if _explain is None else _explain(error)
    if found is not error or _explain_device is None:
        return found
    return _explain_device(error, executable)


_ON_THE_WAY = re.compile(
    r"error calling callback: Traceback.*\n([\w.]+)(?:: *(.*))?\s*\Z", re.DOTALL
)


def _raised_on_the_way(text: str) -> BaseException | None:
    """Return the exception of a signal handler that ran as the engine called a callback, before any code of it.

    Only its text arrived: it is made again, by the class of this name, without attributes that the text does not tell.
    """
    found = _ON_THE_WAY.search(text)
    if found is None:
        return None
    name, message = found[1].rpartition(".")[2], (found[2] or "").strip()
    classes: set[type] = set()
    rest: list[type] = [BaseException]
    while rest:
        each = rest.pop()
        if each not in classes:
            classes.add(each)
            rest += type.__subclasses__(each)
    fitting = [c for c in classes if c.__name__ == name]
    if len(fitting) > 1:  # that which the code that raised it calls by this name
        path = re.findall(r'File "([^"]*)", line \d+, in ', text)[-1:]
        modules = [m for m in list(sys.modules.values()) if [getattr(m, "__file__", None)] == path]
        seen = [getattr(m, name, None) for m in modules]
        fitting = [c for c in fitting if any(c is s for s in seen)]
    if len(fitting) != 1:
        return None
    kind: Any = fitting[0]
    try:
        return kind(*([message] if message else []))
    except Exception:  # it wants other arguments than a text
        return kind.__new__(kind)
