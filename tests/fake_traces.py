"""Stand-ins for traced values: what diagnostics ask of them, and no more.

This file counts as a library that is not shown to users (see diagnostics/conftest.py), as sagax's
own does: the programs that the tests look into are written to files of their own.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from sagax import errors
from sagax._src import xla
from sagax._src.diagnostics import model, spans


class Stub:
    """Has a type, as a tracer has."""

    def __init__(self, *shape: int, dtype: str = "float32") -> None:
        self.aval = SimpleNamespace(shape=shape, dtype=np.dtype(dtype))


class Probe:
    """Notes the user's expression whenever Python or a library looks at it."""

    def __init__(self) -> None:
        self.seen: list[model.Span | None] = []

    def _look(self, *_: Any) -> Any:
        self.seen.append(spans.user_span(xla.get_traceback()))
        return self

    __lt__ = __add__ = __neg__ = __mul__ = __matmul__ = __iadd__ = __getitem__ = _look
    __call__ = total = __mod__ = _look

    def __bool__(self) -> bool:
        self._look()
        return True

    def __index__(self) -> int:
        self._look()
        return 1

    def __len__(self) -> int:
        self._look()
        return 1

    def __contains__(self, x: Any) -> bool:
        self._look()
        return True

    def __iter__(self) -> Any:
        self._look()
        return iter(())

    def __setitem__(self, i: Any, x: Any) -> None:
        self._look()

    def __format__(self, spec: str) -> str:
        self._look()
        return ""

    def __enter__(self) -> None:
        self._look()

    def __exit__(self, *_: Any) -> None:
        pass


class FakeVar:
    def __init__(self, aval: Any) -> None:
        self.aval = aval


class FakeTrace:
    """What provenance asks of a trace that records."""

    def __init__(self, name: str = "", reason: str = "", parent: Any = None) -> None:
        self.equations: list[Any] = []
        self.invar_paths: dict[Any, str] = {}
        self.argument_links: dict[Any, Any] = {}
        self.captured: dict[int, Any] = {}
        self.parent = parent
        self.debug_info = SimpleNamespace(func_name=name, traced_for=reason)

    def argument(self, path: str | None, *shape: int, link: Any = None) -> FakeTracer:
        tracer = FakeTracer(self, FakeVar(Stub(*shape).aval))
        if path is not None:
            self.invar_paths[tracer._var] = path
        if link is not None:
            self.argument_links[tracer._var] = link
        return tracer


class FakeTracer:
    def __init__(self, trace: FakeTrace, var: FakeVar) -> None:
        self._trace, self._var, self.aval = trace, var, var.aval

    def _do(self, name: str, *others: Any, dtype: str = "float32") -> FakeTracer:
        out = FakeTracer(self._trace, FakeVar(Stub(*self.aval.shape, dtype=dtype).aval))
        self._trace.equations.append(
            SimpleNamespace(
                primitive=SimpleNamespace(name=name),
                invars=[self._var, *(getattr(o, "_var", SimpleNamespace(val=o)) for o in others)],
                outvars=[out._var],
                traceback=xla.get_traceback(),
            )
        )
        return out

    def __add__(self, other: Any) -> FakeTracer:
        return self._do("add", other)

    def __mul__(self, other: Any) -> FakeTracer:
        return self._do("mul", other)

    def __lt__(self, other: Any) -> FakeTracer:
        return self._do("lt", other, dtype="bool")

    def total(self) -> FakeTracer:
        return self._do("square")._do("reduce_sum")

    def quadruple(self) -> FakeTracer:
        return self._do("add")._do("add")

    def __bool__(self) -> bool:
        raise errors.TracerBoolConversionError(self)


class Wrapped:
    """A tracer of a transformation that does not record."""

    _trace = None

    def __init__(self, inner: Any) -> None:
        self.inner, self.aval = inner, getattr(inner, "aval", inner)


def span_of(source: str, text: str) -> model.Span:
    """The span of the first `text` in `source`, a file that starts with it."""
    start = source.index(text)
    head, tail = source[:start].split("\n"), source[: start + len(text)].split("\n")
    return model.Span(
        "program.py",
        len(head),
        len(head[-1]),
        len(tail),
        len(tail[-1]),
        "f",
        tuple(source.split("\n")[len(head) - 1 : len(tail)]),
    )
