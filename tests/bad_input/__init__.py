"""Programs that use transformations wrongly, for both sides of the comparison with the oracle.

Each is a function of the top module `jx`, which is jax or sagax: `jx.numpy`, `jx.lax`, ... The words
given with it must all be in the text of the error that sagax raises. `tests/oracle/bad_input.py` runs
them with jax and records which class of error it raises, or what it gives; `test_bad_input.py` runs
them with sagax and compares.
"""

from __future__ import annotations

import builtins
import importlib
import pkgutil
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """A program, and the words that the text of its error must have."""

    program: Callable[[Any], Any]
    words: tuple[str, ...]


CASES: dict[str, Case] = {}  # by "area/name"


def case(*words: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a program under its name."""

    def register(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
        area = program.__module__.rpartition(".")[2]
        name = f"{area}/{program.__name__}"
        if name in CASES:
            raise ValueError(f"two programs are called {name}")
        CASES[name] = Case(program, words)
        return program

    return register


def load() -> dict[str, Case]:
    """All programs."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return CASES


def outcome(jx: Any, program: Callable[[Any], Any]) -> tuple[str, BaseException | None]:
    """What the program does, as text ("raises TypeError", "gives int32[]: 3"), and its error."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        error = None
        try:
            text = f"gives {summary(jx, program(jx))}"
        except Exception as found:
            error = found
            text = f"raises {public_class(jx, found)}"
    # jaxlib's deprecations depend on its version
    categories = sorted({w.category.__name__ for w in seen if w.category is not DeprecationWarning})
    return text + "".join(f", warns {c}" for c in categories), error


def public_class(jx: Any, error: BaseException) -> str:
    """The name of the nearest class that users can name: of Python or of `jx.errors`."""
    for cls in type(error).__mro__:
        if getattr(builtins, cls.__name__, None) is cls:
            return cls.__name__
        if getattr(jx.errors, cls.__name__, None) is cls and cls.__name__ in JAX_CLASSES:
            return cls.__name__
    raise AssertionError("every exception derives from BaseException")


JAX_CLASSES = (
    "ConcretizationTypeError",
    "JaxRuntimeError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
)


def summary(jx: Any, value: Any) -> str:
    """A value as text that is the same for both libraries."""
    if value is None or isinstance(value, str):
        return str(value)
    leaves, tree = jx.tree_util.tree_flatten(value)
    if jx.tree_util.all_leaves([value]):
        return _leaf(leaves[0])
    return f"{tree} of " + "; ".join(_leaf(x) for x in leaves)


_SCALARS = {bool: "bool", int: "int32", float: "float32", complex: "complex64"}


def _leaf(x: Any) -> str:
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        name = getattr(x.dtype, "name", str(x.dtype))
        kind = f"{name}[{','.join(map(str, x.shape))}]"
        if hasattr(x, "__array__"):
            values = np.asarray(x)
            if values.dtype.kind in "biufc" and values.dtype.names is None:
                return f"{kind}: {np.round(values.astype(complex), 4).tolist()}"
        return kind
    for kind, name in _SCALARS.items():
        if type(x) is kind:  # jax returns some results as they are
            return f"{name}[]: {np.round(complex(x), 4).tolist()}"
    return repr(x) if isinstance(x, str) else type(x).__name__


class Opaque:
    """No array, and no pytree."""

    def __repr__(self) -> str:
        return "Opaque()"


def square(x):
    return x * x


def add(x, y):
    return x + y


def staged(jx, fun, *args):
    return jx.jit(fun)(*args)
