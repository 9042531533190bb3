"""Define a row of the benchmarks: a case, the function that both libraries run, and its bound."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class Library:
    """The library under measurement: the module itself (`jax` or `sagax`) and its NumPy names."""

    name: str
    lib: Any
    np: Any

    def example(self, name: str) -> ModuleType:
        """The example program of that name, in the form that is written for this library."""
        path = EXAMPLES / (f"{name}_jax.py" if self.name == "jax" else f"{name}.py")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ImportError(f"no example program {path}")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


@dataclass(frozen=True)
class Loop:
    """`call` is timed many times over in one measurement, until its last result is ready."""

    call: Callable[[], Any]


@dataclass(frozen=True)
class Fresh:
    """Each timed `run(prepare())` has an untimed `prepare` before it, so that no cache can help."""

    prepare: Callable[[], Any]
    run: Callable[[Any], Any]


@dataclass(frozen=True)
class Row:
    """A line of the table. `bound`: the most that time(sagax)/time(jax) may be, None for no bound.

    `clock` is "cpu" where the work is Python's and other processes should not count, else "wall";
    "memory" is the most that a process held. A row has a `case`, or else `statement`: measured in a
    new process, {lib} being the library's name. `slow` rows may take seconds: then few measurements do;
    `slow_start` rows take seconds to set up: fewer processes do. With `cached`, programs that sagax
    compiled in earlier processes are found again, as for its users. `devices` is the number of virtual
    CPU devices that its processes have; with `one_core` they run on one core only.
    """

    name: str
    title: str
    bound: float | None
    clock: Literal["cpu", "wall", "memory"]
    case: Callable[[Library], Loop | Fresh] | None = None
    statement: str = ""
    slow: bool = False
    slow_start: bool = False
    cached: bool = False
    devices: int = 1
    one_core: bool = False
