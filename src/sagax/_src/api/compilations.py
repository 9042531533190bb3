"""What was compiled, how often and why: counted always, shown by `explain_compiles`."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.spans import shown_path

__all__ = ["explain_compiles", "record"]

_MOST_FUNCTIONS = 512
_MOST_SIGNATURES = 32
_OFTEN = 5

Signature = dict[str, str]


class _Counter:
    """The compilations of one function."""

    __slots__ = ("name", "place", "seconds", "signatures", "times")

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place
        self.times = 0
        self.seconds = 0.0
        self.signatures: list[Signature] = []


_known: OrderedDict[tuple[str, str], _Counter] = OrderedDict()
_lock = threading.Lock()


def record(
    fun: Any,
    names: Sequence[str],
    avals: Sequence[Any],
    statics: Sequence[tuple[Any, Any]],
    seconds: float,
) -> None:
    """Count one compilation; called once for each, never for a call that finds its program."""
    code = getattr(fun, "__code__", None)
    place = "" if code is None else f"{shown_path(code.co_filename)}:{code.co_firstlineno}"
    name = function_name(fun)
    signature: Signature = {
        **{n: a.str_short(short_dtypes=False) for n, a in zip(names, avals, strict=False)},
        **{f"{where} (static)": repr(static)[:40] for where, static in statics},
    }
    with _lock:
        counter = _known.setdefault((name, place), _Counter(name, place))
        counter.times += 1
        counter.seconds += seconds
        if len(counter.signatures) < _MOST_SIGNATURES:
            counter.signatures.append(signature)
        if len(_known) > _MOST_FUNCTIONS:
            _known.popitem(last=False)


def explain_compiles() -> str:
    """A table of the functions that were compiled in this process, the costliest first.

    For each function: how often it was compiled, the seconds that took, which arguments changed
    from one compilation to the next and how, and what to do where it was compiled five times or
    more.

    >>> import sagax, sagax.numpy as np
    >>> @sagax.jit
    ... def triple(x):
    ...     return 3 * x
    >>> _ = triple(np.ones(2)), triple(np.ones(3))
    >>> row = next(r for r in sagax.explain_compiles().splitlines() if r.startswith("triple"))
    >>> row.split()[:2], row.endswith("x: float32[2], float32[3]")
    (['triple', '2'], True)
    """
    with _lock:
        counters = sorted(_known.values(), key=lambda c: -c.seconds)
        rows = [
            (c.name, str(c.times), f"{c.seconds:.2f}", c.place, _changes(c.signatures))
            for c in counters
        ]
        often = {c.name: c for c in counters if c.times >= _OFTEN}
    head = ("function", "times", "seconds", "defined at", "what changed")
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(4)]
    lines = [
        "  ".join([*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[4]]).rstrip()
        for row in (head, *rows)
    ]
    lines += [f"advice for {name}: {_advice(c.signatures)}" for name, c in often.items()]
    return "\n".join(lines)


def _values(signatures: Sequence[Signature]) -> dict[str, list[str]]:
    """The arguments that are not always the same, with what they were."""
    names = dict.fromkeys(n for s in signatures for n in s)
    found = {n: list(dict.fromkeys(s.get(n, "absent") for s in signatures)) for n in names}
    return {n: values for n, values in found.items() if len(values) > 1}


def _changes(signatures: Sequence[Signature]) -> str:
    changes: list[str] = []
    for name, values in _values(signatures).items():
        more = f", ... ({len(values)} in all)" if len(values) > 3 else ""
        changes.append(f"{name}: {', '.join(values[:3])}{more}")
    return "; ".join(changes)


def _advice(signatures: Sequence[Signature]) -> str:
    changing = _values(signatures)
    static = [n for n in changing if n.endswith("(static)")]
    if static:
        return f"let {', '.join(n.removesuffix(' (static)') for n in static)} be traced, if only its value is used"
    if changing:
        return f"keep the shape and dtype of {', '.join(changing)}: pad to few sizes, and mask"
    return (
        "apply jit once, outside of loops and functions: each time it is applied is a new function"
    )
