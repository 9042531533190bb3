"""Find reads of clocks, random generators of the host, and the environment while tracing."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._autofix.checks.report import Add, direct_caller, is_staging, own_caller, traced_function
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.spans import span_at

__all__ = ["install"]

_CLOCKS = ("time", "perf_counter", "monotonic", "process_time")
_UUIDS = ("uuid1", "uuid4")
_IGNORED = {"seed", "get_state", "set_state", "getstate", "setstate"}


def install(add: Add) -> None:
    """Report what traced functions read from outside of the program."""

    def note(what: str, direct: bool = False) -> None:
        if not is_staging():
            return
        found = direct_caller() if direct else own_caller(3)
        if found is None:
            return
        span = span_at(found[1])
        text = " ".join(span.text.split()) or what
        function = traced_function()
        traced = f"`{function}` is" if function else "it is"
        add(
            cautions.ImpureTraceWarning,
            f"`{text}` is called once, while {traced} traced: all calls use this one value of {what}",
            None,
            span=span,
        )

    def watched(
        function: Callable[..., Any], what: str, direct: bool = False
    ) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            note(what, direct)
            return function(*args, **kwargs)

        call.__name__ = getattr(function, "__name__", "")
        return call

    for name in _CLOCKS:
        for variant in (name, f"{name}_ns"):
            setattr(time, variant, watched(getattr(time, variant), "the clock", True))
    for name in _UUIDS:
        setattr(uuid, name, watched(getattr(uuid, name), "a random identifier"))
    _watch_random(watched)
    _watch_numpy(watched, note)
    _watch_environment(note)


def _watch_random(watched: Callable[..., Any]) -> None:
    what = "Python's generator"
    for name in dir(random):
        function = getattr(random, name)
        if getattr(function, "__self__", None) is random._inst and name not in _IGNORED:  # type: ignore[attr-defined]
            setattr(random, name, watched(function, what))


def _watch_numpy(watched: Callable[..., Any], note: Callable[[str, bool], None]) -> None:
    what = "NumPy's generator"
    shared = np.random.rand.__self__  # type: ignore[attr-defined]
    for name in dir(np.random):
        function = getattr(np.random, name)
        if getattr(function, "__self__", None) is shared and name not in _IGNORED:
            setattr(np.random, name, watched(function, what))
    default_rng = np.random.default_rng

    def observed(seed: Any = None) -> Any:
        if is_staging() and seed is not None:  # the same numbers in each trace
            return default_rng(seed)
        return _WatchedGenerator(default_rng(seed).bit_generator)

    def method(owner: type, name: str) -> Callable[..., Any]:
        real = getattr(owner, name)

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            note(what, True)  # libraries draw while they are imported
            return real(self, *args, **kwargs)

        call.__name__ = name
        return call

    def draws(owner: type) -> dict[str, Callable[..., Any]]:
        return {
            name: method(owner, name)
            for name, value in vars(owner).items()
            if not name.startswith("_") and callable(value) and name not in {"spawn", *_IGNORED}
        }

    _WatchedGenerator = type("Generator", (np.random.Generator,), draws(np.random.Generator))
    np.random.default_rng = observed
    real_state = np.random.RandomState

    class Kind(type):
        def __instancecheck__(cls, value: Any) -> bool:  # as libraries ask of a seed
            return isinstance(value, real_state)

    np.random.RandomState = Kind("RandomState", (real_state,), draws(real_state))


def _watch_environment(note: Callable[[str, bool], None]) -> None:
    kind = type(os.environ)
    read = kind.__getitem__

    def getitem(self: Any, key: Any) -> Any:
        note(f"the variable {key}", True)
        return read(self, key)

    kind.__getitem__ = getitem  # type: ignore[method-assign]
