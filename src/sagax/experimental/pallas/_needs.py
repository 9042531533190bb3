"""Define names that need a TPU or a GPU: each raises an error that says what it needs, and what to use instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sagax._src.primitives.unsupported import UnsupportedError

TPU = "a TPU, and its compiler (libtpu)"
HOPPER = "an NVIDIA GPU of the Hopper generation or newer, and the Mosaic GPU dialect"
BLACKWELL = "an NVIDIA GPU of the Blackwell generation, and the Mosaic GPU dialect"
SPARSE_CORE = "a TPU with SparseCores, and its compiler (libtpu)"
TRITON = "an NVIDIA GPU, and kernels lowered to Triton"
_GENERAL = "write the kernel with pallas_call, which runs on CPUs"


def unsupported(name: str, needed: str, instead: str = _GENERAL) -> UnsupportedError:
    """Return the error for a name that needs other hardware."""
    return UnsupportedError(f"{name} needs {needed}", function=name, fix=instead)


def needs(module: str, name: str, needed: str, instead: str = _GENERAL) -> Callable[..., Any]:
    """Return a function that raises the error for `name`."""

    def refused(*args: Any, **kwargs: Any) -> Any:
        raise unsupported(name, needed, instead)

    refused.__name__ = refused.__qualname__ = name
    refused.__module__ = module
    refused.__doc__ = f"Raise an error: `{name}` needs {needed}. Instead, {instead}."
    return refused


def others(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module: names that jax has there, and what each needs. They raise when called."""
    needed = {name: text for text, several in names.items() for name in several.split()}

    def find(name: str) -> Any:
        if name in needed:
            return needs(module, name, needed[name])
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return find
