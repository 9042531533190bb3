"""Record compilations and their causes, and show them by `explain_compiles`."""

from __future__ import annotations

import contextlib
import html
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sagax._src import fork_locks, trees
from sagax._src.diagnostics.boundary import function_code, function_name
from sagax._src.diagnostics.spans import display_path
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime.array import block_all

if TYPE_CHECKING or lazy_imports():  # for the table alone
    from sagax._src.diagnostics import wording
    from sagax._src.languages import widths as text_widths

_MAX_FUNCTIONS = 512
_MAX_SIGNATURES = 32
_ADVICE_FROM = 5
_HEADS = (
    "function",
    "times",
    "trace s",
    "lower s",
    "XLA s",
    "loaded",
    "defined at",
    "what changed",
)
_STATIC = " (static)"  # behind the name of an argument
_ABSENT = "absent"  # in place of its type

Signature = dict[str, str]


class Seconds(NamedTuple):
    """Store the durations of tracing, lowering and XLA compilation, in seconds."""

    trace: float
    lower: float
    xla: float

    @property
    def total(self) -> float:
        return self.trace + self.lower + self.xla


class Compilation(NamedTuple):
    """Describe one compilation: argument types, durations, and whether it was `loaded` from the
    disk cache.

    `why` is the reason that the cache reports; `jaxpr` is set only under `retain_jaxprs`.
    """

    signature: Signature
    seconds: Seconds
    loaded: bool
    why: str
    jaxpr: Any


class Counter:
    """Count the compilations of one function and, under `retain_jaxprs`, its runs."""

    __slots__ = (
        "compilations",
        "loaded",
        "name",
        "location",
        "run_seconds",
        "runs",
        "seconds",
        "times",
    )

    def __init__(self, name: str, location: str) -> None:
        self.name = name
        self.location = location
        self.times = 0
        self.loaded = 0
        self.seconds = Seconds(0.0, 0.0, 0.0)
        self.compilations: list[Compilation] = []
        self.runs = 0
        self.run_seconds = 0.0

    @property
    def signatures(self) -> list[Signature]:
        return [c.signature for c in self.compilations]

    def causes(self) -> list[str]:
        """Explain why each compilation was necessary."""
        found: list[str] = []
        for i, one in enumerate(self.compilations):
            if i == 0:
                found.append("the first call")
                continue
            before = self.compilations[i - 1].signature
            names = dict.fromkeys([*before, *one.signature])
            changed = [
                f"{n}: {before.get(n, _ABSENT)}, then {one.signature.get(n, _ABSENT)}"
                for n in names
                if before.get(n) != one.signature.get(n)
            ]
            found.append("; ".join(changed) or "jit was applied again, or settings changed")
        return found


_known: OrderedDict[tuple[str, str], Counter] = OrderedDict()
_lock = fork_locks.lock()
_retaining = False
_around: Callable[[Counter, Any], contextlib.AbstractContextManager[None]] | None = None


def retain_jaxprs(
    enabled: bool,
    around: Callable[[Counter, Any], contextlib.AbstractContextManager[None]] | None = None,
) -> None:
    """Set whether later compilations retain their jaxprs and time their runs (which blocks).

    `around(counter, executable)` is the context of each run.
    """
    global _retaining, _around
    _retaining, _around = enabled, around


def counters() -> list[Counter]:
    """Return the counters of all functions that were compiled."""
    with _lock:
        return list(_known.values())


def record(
    fun: Any,
    names: Sequence[str],
    avals: Sequence[Any],
    statics: Sequence[tuple[Any, Any]],
    seconds: Seconds,
    *,
    jaxpr: Any = None,
    loaded: bool = False,
    why: str = "",
) -> Counter:
    """Count one compilation. Cached calls do not get here."""
    code = getattr(fun, "source_code", None) or function_code(fun)
    location = "" if code is None else f"{display_path(code.co_filename)}:{code.co_firstlineno}"
    name = function_name(fun)
    signature: Signature = {
        **{n: a.str_short(short_dtypes=False) for n, a in zip(names, avals, strict=False)},
        **{f"{where}{_STATIC}": repr(static)[:40] for where, static in statics},
    }
    retained = jaxpr if _retaining else None
    with _lock:
        counter = _known.setdefault((name, location), Counter(name, location))
        counter.times += 1
        counter.loaded += loaded
        before = counter.seconds
        counter.seconds = Seconds(*[a + b for a, b in zip(before, seconds, strict=True)])
        if len(counter.compilations) < _MAX_SIGNATURES:
            counter.compilations.append(Compilation(signature, seconds, loaded, why, retained))
        if len(_known) > _MAX_FUNCTIONS:
            _known.popitem(last=False)
    return counter


def timed(entry: Callable[..., Any], counter: Counter, executable: Any) -> Callable[..., Any]:
    """Wrap `entry`, the call of an executable, to count and time its runs under `retain_jaxprs`."""
    if not _retaining:
        return entry

    def call_timed(bufs: list, arrays: Sequence[Any]) -> Any:
        around = contextlib.nullcontext() if _around is None else _around(counter, executable)
        with around:
            start = time.perf_counter()
            result = entry(bufs, arrays)
            block_all(trees.leaves(result))
            spent = time.perf_counter() - start
        with _lock:
            counter.runs += 1
            counter.run_seconds += spent
        return result

    return call_timed


def _text(template: str, /, **facts: object) -> str:
    """Return an English template in the language of the settings, with the facts in it."""
    return wording.in_users_language(template, **facts)


class CompilesTable(str):
    """The table of `explain_compiles`: a string, which shells and notebooks show as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def explain_compiles() -> CompilesTable:
    """Tabulate the functions that were compiled in this process, the costliest first.

    For each function: how often it was compiled, and the seconds that tracing, lowering and XLA
    took. Then: how many executables came from the disk cache, and which arguments changed between
    compilations. A function that was compiled five times or more gets advice.

    >>> @sagax.jit
    ... def triple(x):
    ...     return 3 * x
    >>> _ = triple(snp.ones(2)), triple(snp.ones(3))
    >>> row = next(r for r in sagax.explain_compiles().splitlines() if r.startswith("triple"))
    >>> row.split()[:2], row.endswith("x: float32[2], float32[3]")
    (['triple', '2'], True)
    """
    with _lock:
        found = sorted(_known.values(), key=lambda c: -c.seconds.total)
        rows = [
            (
                c.name,
                str(c.times),
                *[f"{part:.2f}" for part in c.seconds],
                str(c.loaded),
                c.location,
                _changes(c.signatures),
            )
            for c in found
        ]
        often = {c.name: c for c in found if c.times >= _ADVICE_FROM}
    head = tuple(map(_text, _HEADS))
    widths = [
        max(text_widths.columns(row[i]) for row in (head, *rows)) for i in range(len(head) - 1)
    ]
    pad = text_widths.pad
    lines = [
        "  ".join([*(pad(cell, w) for cell, w in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in (head, *rows)
    ]
    lines += [
        _text("advice for {name}: {advice}", name=name, advice=_advice(c.signatures))
        for name, c in often.items()
    ]
    return CompilesTable("\n".join(lines))


def _values(signatures: Sequence[Signature]) -> dict[str, list[str]]:
    """Show the arguments that vary among the compilations."""
    names = dict.fromkeys(n for s in signatures for n in s)
    found = {n: list(dict.fromkeys(s.get(n, _ABSENT) for s in signatures)) for n in names}
    return {n: values for n, values in found.items() if len(values) > 1}


def _changes(signatures: Sequence[Signature]) -> str:
    changes: list[str] = []
    for name, values in _values(signatures).items():
        more = _text(", ... ({count} in all)", count=len(values)) if len(values) > 3 else ""
        shown = _text(", ").join([_text(_ABSENT) if v == _ABSENT else v for v in values[:3]])
        changes.append(f"{_name(name)}{_text(': ')}{shown}{more}")
    return _text("; ").join(changes)


def _name(argument: str) -> str:
    """Return the name of an argument, in the user's language if it says that the argument is static."""
    name = argument.removesuffix(_STATIC)
    return argument if name == argument else _text("{name} (static)", name=name)


def _advice(signatures: Sequence[Signature]) -> str:
    changing = _values(signatures)
    static = [n.removesuffix(_STATIC) for n in changing if n.endswith(_STATIC)]
    if static:
        names = _text(", ").join(static)
        return _text("let {names} be traced, if only its value is used", names=names)
    if changing:
        names = _text(", ").join(changing)
        return _text("keep the shape and dtype of {names}: pad to few sizes, and mask", names=names)
    return _text(
        "apply jit once, outside of loops and functions: each time it is applied is a new function"
    )
