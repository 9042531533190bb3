"""Provide the engine's serialized programs, for libraries that ship executables between processes.

>>> from sagax.extend import ifrt_programs
>>> callable(ifrt_programs.ifrt_programs.make_plugin_program)
True
"""

from __future__ import annotations

from typing import Any

from sagax._src.xla import bindings


def __getattr__(name: str) -> Any:
    programs = bindings.extension().ifrt_programs
    if name == "ifrt_programs":  # where jax has them
        return programs
    found = getattr(programs, name, None)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return [*dir(bindings.extension().ifrt_programs), "ifrt_programs"]
