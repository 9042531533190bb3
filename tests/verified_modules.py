"""Digests of the modules of recorded calls and programs, each noted when its values agreed with jax's.

Compiling takes nearly all of the time of 40,792 calls. A call whose module is, to the letter, the one that was run and
compared gives the same values again: the suite traces and lowers every call, compares types and shapes, and runs those
whose module is another. The digests hold for one minor version of the engine and of Python. After a change of lowering run

    python tests/verified_modules.py [calls] [programs] [--all]

which makes the calls whose module changed (with --all every one) and notes the modules of those that agree.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import multiprocessing
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jaxlib.version

import generated_call_differences
import generated_calls
import random_programs
import sagax
import sagax.scipy.special
import strict_calls

DATA = Path(__file__).resolve().parent / "data"
_DIGITS = 8  # of a digest: one change in four thousand million is missed
_SHARE = 500  # what a process records at a time: executables are not given back
_PROCESSES = 2


def surroundings() -> str:
    """The versions that digests hold for."""
    engine = ".".join(jaxlib.version.__version__.split(".")[:2])
    return f"jaxlib {engine}, Python {sys.version_info.major}.{sys.version_info.minor}"


def digest(function: Callable[..., Any], arguments: list[Any]) -> tuple[str, list[Any]]:
    """A digest of the module of a function, and its results: heads of the arrays, descriptions of the rest."""
    heads: list[Any] = []

    def arrays(*given: Any) -> list[Any]:
        leaves = sagax.tree.leaves(function(*given))
        heads[:] = [_head(x) for x in leaves]
        return [x for x in leaves if hasattr(x, "dtype")]

    text = sagax.jit(arrays).lower(*arguments).as_text()
    return hashlib.blake2b(text.encode()).hexdigest()[:_DIGITS], heads


def _head(x: Any) -> Any:
    """What generated_calls.described says of a result without its values."""
    if not hasattr(x, "dtype"):
        return generated_calls.described(x)
    return f"{x.dtype}{'*' * bool(getattr(x, 'weak_type', False))}{list(x.shape)}"


def _heads(expected: Any) -> Any:
    """The same of a recorded outcome."""
    return [x[0] if isinstance(x, list) else x for x in expected]


def _looked_up(
    function: Callable[..., Any], arguments: list[Any], expected: Any
) -> tuple[str | None, Any]:
    """The digest of what has the expected types, and the outcome of what raises; neither of what is to be run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found, heads = digest(function, arguments)
        except Exception as error:
            kinds = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
            kinds = [name for name in kinds if name not in ("Exception", "BaseException", "object")]
            return None, "raises " + " ".join(kinds)
    same = not isinstance(expected, str) and heads == _heads(expected)
    return (found if same else None), None


@functools.cache
def _surroundings_of_calls() -> tuple[dict[str, Any], dict[str, Any]]:
    return strict_calls.scope(sagax), generated_calls.operands(sagax)


class Calls:
    """The generated calls: keys are their texts."""

    name = "calls"

    @staticmethod
    def recorded() -> list[tuple[str, Any]]:
        return generated_calls.recorded()

    @staticmethod
    def run(call: str) -> Any:
        return generated_calls.outcome(sagax, *_surroundings_of_calls(), call)

    @staticmethod
    def looked_up(call: str, expected: Any) -> tuple[str | None, Any]:
        names, values = _surroundings_of_calls()
        way, text = call.split(" ", 1)
        used = [k for k in values if k in strict_calls._words(text)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the text, such as an index of a number
            function = eval(f"lambda {', '.join(used)}: {text}", names)
        return _looked_up(
            lambda *given: generated_calls._transformed(sagax, way, function, list(given)),
            [values[k] for k in used],
            expected,
        )

    @staticmethod
    def holds(call: str, found: Any, expected: Any) -> bool:
        agreed = generated_calls.agree(found, expected)
        return agreed or bool(generated_call_differences.fitting(call, found, expected))


class Programs:
    """The random programs: keys are their seeds."""

    name = "programs"

    @staticmethod
    def recorded() -> list[tuple[int, Any]]:
        return list(random_programs.recorded().items())

    @staticmethod
    def run(seed: int) -> Any:
        lines, stack = random_programs.source(seed), random_programs.stack(seed)
        return random_programs.outcome(sagax, lines, stack)

    @staticmethod
    def looked_up(seed: int, expected: Any) -> tuple[str | None, Any]:
        lines, stack = random_programs.source(seed), random_programs.stack(seed)
        function, given = random_programs.transformed(sagax, lines, stack)
        return _looked_up(function, given, expected)

    @staticmethod
    def holds(seed: int, found: Any, expected: Any) -> bool:
        known = seed in random_programs.DIFFERENT
        return known or random_programs.same(seed, found, expected)


KINDS: dict[str, Any] = {kind.name: kind for kind in (Calls, Programs)}


def _file(name: str) -> Path:
    return DATA / f"verified_{name}.json.gz"


@functools.cache
def noted(name: str) -> list[str]:
    """The digests in the order of the records, "" for what has none; all "" for other versions."""
    count = len(KINDS[name].recorded())
    if not _file(name).exists():
        return [""] * count
    with gzip.open(_file(name), "rt", encoding="utf-8") as file:
        kept = json.load(file)
    text = kept["digests"] if kept["holds for"] == surroundings() else ""
    found = [x.strip() for x in re.findall(f".{{{_DIGITS}}}", text)]
    return (found + [""] * count)[:count]


def to_run(name: str, positions: range, budget: int, every: int) -> Iterator[tuple[Any, Any]]:
    """What is to be run of the records at these positions: keys and expected outcomes.

    Each `every`th is; of the others those that differ in types or raise otherwise, and those whose module changed: of
    these at most `budget`, evenly spread, with a warning that says how many are left.
    """
    kind = KINDS[name]
    records, digests = kind.recorded(), noted(name)
    changed: list[tuple[Any, Any]] = []
    for position in positions:
        key, expected = records[position]
        if position % every == 0:
            yield key, expected
            continue
        found, error = kind.looked_up(key, expected)
        if error is not None and kind.holds(key, error, expected):
            continue
        if found is None:
            yield key, expected
        elif found != digests[position]:
            changed.append((key, expected))
    step = max(1, -(-len(changed) // budget))
    if step > 1 and any(digests):  # else those of another version of the engine
        warnings.warn(
            f"{len(changed)} of {len(positions)} {name} lower to other modules than those that were compared with jax:"
            f" every {step}th of them is run. Run python tests/verified_modules.py {name}",
            stacklevel=3,
        )
    yield from changed[::step]


def differing(name: str, positions: range, budget: int, every: int) -> list[str]:
    """Run what `to_run` says, and describe what does not give what it gives on jax."""
    kind = KINDS[name]
    wrong = []
    for key, expected in to_run(name, positions, budget, every):
        found = kind.run(key)
        if not kind.holds(key, found, expected):
            wrong.append(f"{key}: {found} instead of {expected}")
    return wrong


def _note(task: tuple[str, int, bool]) -> list[tuple[int, str, str]]:
    """Positions, digests and complaints of a share of the records."""
    name, start, anew = task
    kind, digests = KINDS[name], noted(name)
    found = []
    for position, (key, expected) in list(enumerate(kind.recorded()))[start : start + _SHARE]:
        new, error = kind.looked_up(key, expected)
        if not anew and (new == digests[position] or (error and kind.holds(key, error, expected))):
            found.append((position, new or "", ""))
            continue
        outcome = kind.run(key)
        agreed = kind.holds(key, outcome, expected)
        complaint = "" if agreed else f"{key}: {outcome} instead of {expected}"
        found.append((position, (new or "") if agreed else "", complaint))
    return found


def main(names: list[str], anew: bool) -> int:
    """Note what agrees, print what does not; the number of those."""
    complaints = 0
    for name in names or list(KINDS):
        digests = noted(name)[:]
        tasks = [(name, start, anew) for start in range(0, len(digests), _SHARE)]
        context = multiprocessing.get_context("spawn")
        with context.Pool(_PROCESSES, maxtasksperchild=1) as pool:
            for done, rows in enumerate(pool.imap_unordered(_note, tasks, chunksize=1), 1):
                for position, new, complaint in rows:
                    digests[position] = new
                    complaints += bool(complaint)
                    if complaint:
                        print(complaint, flush=True)
                print(f"{name}: {done} of {len(tasks)} shares", flush=True)
        kept = {"holds for": surroundings(), "digests": "".join(x.ljust(_DIGITS) for x in digests)}
        with gzip.GzipFile(_file(name), "wb", 9, mtime=0) as file:
            file.write(json.dumps(kept).encode())
        print(f"{name}: {sum(map(bool, digests))} of {len(digests)} have a digest")
    return complaints


if __name__ == "__main__":
    sys.exit(
        bool(main([x for x in sys.argv[1:] if not x.startswith("-")], "--all" in sys.argv[1:]))
    )
