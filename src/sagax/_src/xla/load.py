"""Import modules of jaxlib, safe from signals."""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any


def load(name: str) -> Any:
    """Import a module of jaxlib, by another thread where the main thread asks.

    Handlers of signals run in the main thread only. Where one raises while an extension of jaxlib defines its classes, the
    process aborts; here the exception is raised in the wait, and the import goes on.
    """
    if name not in sys.modules and threading.current_thread() is threading.main_thread():
        importing = threading.Thread(target=_import, args=(name,), name=f"import {name}")
        try:
            importing.start()
        except RuntimeError:  # as the interpreter ends, there are no new threads
            return importlib.import_module(name)
        importing.join()
    return importlib.import_module(name)


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception:
        pass  # the thread that asks meets it again, as an error of its own
