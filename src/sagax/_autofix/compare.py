"""Compare the printed results and the variables of two runs of a script."""

from __future__ import annotations

import math
import re
from typing import Any

from sagax._autofix.run_task import Outcome

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\binf\b|\bnan\b)")
# as the number in it is printed
_SCALAR_ARRAY = re.compile(r"Array\(([-+\w.]+), dtype=\w+(?:, weak_type=True)?\)")
_RELATIVE, _ABSOLUTE = 1e-3, 2e-4
_NOISE = 8.0  # times what rounding the inputs changes is rounding still


def same_result(wanted: Outcome, got: Outcome, wildcard: bool = False) -> bool:
    """Return whether two runs print the same, and leave the same variables.

    Numbers may differ by rounding. With `wildcard`, nan and infinity in the wanted result match any finite
    number, and tests may have another truth value.
    """
    return different_names(wanted, got, wildcard) == set()


def different_names(wanted: Outcome, got: Outcome, wildcard: bool = False) -> set[str] | None:
    """Return the variables in which two runs differ; None if they print other results."""
    if not _same_text(wanted.output, got.output, wildcard):
        return None
    names = set(wanted.results) & set(got.results)
    return {n for n in names if not same_values(wanted.results[n], got.results[n], wildcard)}


def is_noise(wanted: Any, got: Any, rounded: Any) -> bool:
    """Return whether a value is about as far from the wanted one as rounding the inputs takes that."""
    return _distance(wanted, got) <= _NOISE * _distance(wanted, rounded)


def exceeds_noise(wanted: Outcome, got: Outcome, rounded: Outcome) -> bool:
    """Return whether runs differ by more than rounding the inputs of the first changes it."""
    values = [{**o.results, "": _printed(o.output)} for o in (wanted, got, rounded)]
    return not all(
        same_values(values[0][n], values[1][n]) or is_noise(*[v[n] for v in values])
        for n in set(values[0]) & set(values[1]) & set(values[2])
    )


def _printed(text: str) -> list[Any]:
    """Return what a text says besides numbers, and its numbers."""
    text = _SCALAR_ARRAY.sub(r"\1", text)
    return [
        re.sub(r"\s+", "", _NUMBER.sub("#", text)),
        [float(number) for number in _NUMBER.findall(text)],
    ]


def _distance(a: Any, b: Any) -> float:
    """Return the greatest difference between numbers of nested lists; infinity if something else differs."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return max([_distance(x, y) for x, y in zip(a, b, strict=True)], default=0.0)
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return max([_distance(a[k], b[k]) for k in a], default=0.0)
    plain = not (isinstance(a, bool) or isinstance(b, bool))
    if plain and isinstance(a, (int, float, complex)) and isinstance(b, (int, float, complex)):
        if a == b or (a != a and b != b):
            return 0.0
        difference = abs(a - b)
        return difference if difference == difference else math.inf
    return 0.0 if a == b else math.inf


def has_nan(outcome: Outcome) -> bool:
    """Return whether a run prints nan."""
    return re.search(r"\bnan\b", outcome.output) is not None


def _same_text(expected: str, got: str, wildcard: bool) -> bool:
    def normalize(text: str) -> str:
        if wildcard:  # what was compared with nan
            text = re.sub(r"\b(True|False)\b", "?", text)
        return re.sub(r"\s+", "", _NUMBER.sub("#", text))

    expected, got = (_SCALAR_ARRAY.sub(r"\1", text) for text in (expected, got))
    if normalize(expected) != normalize(got):
        return False
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(got), strict=False)
    return all(_close(float(a), float(b), wildcard) for a, b in pairs)


def _close(a: float, b: float, wildcard: bool) -> bool:
    if a != a:
        return (abs(b) < math.inf) if wildcard else (b != b)
    if math.isinf(a):
        return a == b or (wildcard and abs(b) < math.inf)
    return a == b or abs(a - b) <= _ABSOLUTE + _RELATIVE * abs(a)


def same_values(a: Any, b: Any, wildcard: bool = False) -> bool:
    """Return whether nested lists of numbers are equal up to rounding, nan only to nan."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(
            same_values(x, y, wildcard) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_values(a[k], b[k], wildcard) for k in a)
    if wildcard and isinstance(a, bool) and isinstance(b, bool):
        return True
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return _close(float(a), float(b), wildcard)
    if isinstance(a, (int, float, complex)) and isinstance(b, (int, float, complex)):
        return abs(a - b) <= _ABSOLUTE + _RELATIVE * abs(a)
    return bool(a == b)


def keeps_infinities(a: Any, b: Any) -> bool:
    """Return whether each infinite number of nested lists is the same in both."""
    if isinstance(a, list) and isinstance(b, list):
        return all(keeps_infinities(x, y) for x, y in zip(a, b, strict=False))
    if isinstance(a, dict) and isinstance(b, dict):
        return all(keeps_infinities(a[k], b[k]) for k in a.keys() & b.keys())
    return not (isinstance(a, float) and math.isinf(a)) or bool(a == b)


def holds_nan(value: Any) -> bool:
    """Return whether a number of nested lists is nan."""
    if isinstance(value, dict):
        return any(map(holds_nan, value.values()))
    if isinstance(value, list):
        return any(map(holds_nan, value))
    return isinstance(value, float) and math.isnan(value)


def holds_infinity(value: Any) -> bool:
    """Return whether a number of nested lists is infinite."""
    if isinstance(value, dict):
        return any(map(holds_infinity, value.values()))
    if isinstance(value, list):
        return any(map(holds_infinity, value))
    return isinstance(value, float) and math.isinf(value)


def same_structure(a: Any, b: Any) -> bool:
    """Return whether nested lists have the same lengths and keys, so that they can be compared."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same_structure(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_structure(a[k], b[k]) for k in a)
    containers = (list, dict, type(None))
    return not isinstance(a, containers) and not isinstance(b, containers)
