"""Collect facts from an exception: its message, the user's calls, and its source span."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import types
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from sagax._autofix.repairs.case import Facts, Measurement
from sagax._src import trees
from sagax._src.diagnostics.base import SagaxError, describe
from sagax._src.diagnostics.model import Diagnostic, Label, Severity
from sagax._src.diagnostics.provenance import find_creation, is_tracer, provenance_of_all
from sagax._src.diagnostics.spans import transformed_frames, user_span, user_spans

_MAX_FRAMES = 60
# classes that scripts catch by name; others are known by their bases
_PUBLIC_CLASSES = {
    "ConcretizationTypeError", "InconclusiveDimensionOperation", "JaxRuntimeError",
    "JaxprTypeError", "KeyReuseError", "NonConcreteBooleanIndexError",
    "TracerArrayConversionError", "TracerBoolConversionError", "TracerIntegerConversionError",
    "UnexpectedDimVar", "UnexpectedTracerError", "XlaRuntimeError",
}  # fmt: skip


def public_name(kind: type) -> str:
    """Return the public name of a class of exceptions: its own, or that of a base."""
    for base in kind.__mro__:
        known = base.__name__ in _PUBLIC_CLASSES or base.__module__ == "builtins"
        if known or issubclass(base, Warning):
            return base.__name__
    return kind.__name__


def collect_facts(error: BaseException) -> Facts:
    """Collect the facts of an exception as plain data."""
    kind = type(error)
    data: dict[str, str] = {}
    if isinstance(error, SagaxError):
        diagnostic = dataclasses.replace(error.explain(), error=public_name(kind))
        data = {name: describe(value) for name, value in error.facts.items() if name != "traceback"}
        tracers = [v for v in error.facts.values() if is_tracer(v)]
        data["tracers"] = str(len(tracers))
    else:
        notes = [getattr(n, "english", str(n)) for n in getattr(error, "__notes__", ())]
        span = user_span(error.__traceback__)
        diagnostic = Diagnostic(
            code="",
            error=public_name(kind),
            message=str(error) or kind.__name__,
            labels=(Label(span, primary=True),) if span else (),
            context=tuple(n.removeprefix("while ") for n in notes if n.startswith("while ")),
        )
    names = tuple(base.__name__ for base in kind.__mro__)
    stack = error.__traceback__
    if isinstance(error, SagaxError) and any("leaks" in x.text for x in diagnostic.labels):
        stack = (
            find_creation(error.facts.get("tracer"))[0] or stack
        )  # the stack that created the tracer
    frames = tuple(user_spans(stack, _MAX_FRAMES))
    calls = tuple(transformed_frames(stack, _MAX_FRAMES))
    return Facts(diagnostic, names, frames, data, calls)


def warning_facts(
    category: type[Warning],
    message: str,
    traceback: Any,
    values: tuple[Any, ...] = (),
    depends: tuple[str, ...] = (),
    code: str = "",
    data: Mapping[str, str] | None = None,
    span: Any = None,
) -> Facts:
    """Return the facts of a warning, at the user's innermost expression on a stack or at `span`."""
    span = span or user_span(traceback)
    origin = provenance_of_all([v for v in values if is_tracer(v)])
    diagnostic = Diagnostic(
        code=code,
        error=category.__name__,
        message=message,
        severity=Severity.WARNING,
        labels=(Label(span, primary=True),) if span else (),
        depends=depends or origin.arguments,
        function=origin.function,
        chain=origin.steps,
    )
    names = tuple(base.__name__ for base in category.__mro__)
    frames = tuple(user_spans(traceback, _MAX_FRAMES)) if traceback is not None else ()
    calls = tuple(transformed_frames(traceback, _MAX_FRAMES))
    return Facts(diagnostic, names, frames, dict(data or {}), calls)


# --- values ------------------------------------------------------------------------------------

_MAX_SIZE = 10_000


def measure_value(value: Any) -> Measurement:
    """Describe a value: its type, and the value itself if it is a number or a string."""
    aval = getattr(value, "aval", value)
    shape, dtype = getattr(aval, "shape", None), getattr(aval, "dtype", None)
    plain = value if isinstance(value, (bool, int, float, str)) else None
    if isinstance(value, tuple) and hasattr(value[0] if value else None, "shape"):
        first = measure_value(value[0])
        return Measurement("tuple", first.shape, first.dtype, len(value), structure_text(value))
    if plain is None and shape == () and dtype is not None:
        try:
            plain = np.asarray(value).item()
        except Exception:  # a traced value has no number
            plain = None
    return Measurement(
        type(value).__name__,
        tuple(shape) if isinstance(shape, tuple) else None,
        str(getattr(dtype, "name", dtype) or ""),
        plain,
        structure_text(value),
        _least(value),
    )


def _least(value: Any) -> int | None:
    """Return the least number of an array of integers; None of another value."""
    if getattr(getattr(value, "dtype", None), "kind", "") not in ("i", "u") or is_tracer(value):
        return None
    array = np.asarray(value)
    return int(array.min()) if array.size else None


def structure_text(value: Any) -> str:
    """Return the structure of a tree of arrays with their types; "" if it holds anything else."""
    found, structure = trees.flatten(value)
    if not found or len(found) > 1000:
        return ""
    types: list[str] = []
    for leaf in found:
        if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
            return ""
        types.append(f"{leaf.dtype}{list(leaf.shape)}")
    return f"{structure}: {', '.join(types)}"


_MAX_DEPTH = 5


def collect_results(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the numbers and arrays that a module keeps, as nested lists.

    They are its variables, the attributes of its objects, and the variables that its functions close
    over.
    """
    found: dict[str, Any] = {}
    for name, value in names.items():
        if name.startswith("__"):
            continue
        for path, part in _state(name, value):
            try:
                found[path] = plain_data(part)
            except ValueError:
                continue
    return found


def _state(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a variable, or the variables of the object or function that it holds."""
    function = inspect.unwrap(value) if callable(value) else value
    if isinstance(function, types.FunctionType):
        for inner, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            with contextlib.suppress(ValueError):  # an empty cell
                yield f"{name}.{inner}", cell.cell_contents
        return
    yield name, value
    if type(value).__module__ == "__main__" and hasattr(value, "__dict__"):
        for attribute, part in vars(value).items():
            yield f"{name}.{attribute}", part


def plain_data(value: Any) -> Any:
    """Return numbers and arrays as nested lists; ValueError for what is not plain or too large."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _plain_data(value, _MAX_DEPTH)


def _plain_data(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        try:
            array = np.asarray(value)
        except Exception:  # traced, deleted, or of keys
            raise ValueError("no numbers") from None
        if array.size > _MAX_SIZE or array.dtype.kind not in "biufcV":
            raise ValueError("too large, or no numbers")
        if array.dtype.names is not None:
            return {n: _plain_data(array[n], depth) for n in array.dtype.names}
        if array.dtype.kind == "V" and array.dtype.type is np.void:
            raise ValueError("no numbers")
        return array.astype(np.float64).tolist() if array.dtype.kind == "V" else array.tolist()
    if depth and isinstance(value, dict) and len(value) < 100:
        return {str(k): _plain_data(v, depth - 1) for k, v in value.items()}
    if depth and isinstance(value, (list, tuple)) and len(value) < 1000:
        return [_plain_data(v, depth - 1) for v in value]
    if depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain_data(getattr(value, f.name), depth - 1) for f in fields(value)}
    raise ValueError("no plain data")
